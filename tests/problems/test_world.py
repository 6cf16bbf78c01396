"""Delays as a pure function of (seed, step, arm)."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarry.problems import Law, Problem, bernoulli, deterministic, replay
from tarry.problems.world import World, philox, seed_words, uniforms

WORD = st.integers(0, 2**32 - 1)

# Published with the generator's reference implementation (Random123): counter, key, words.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (
        (0xFFFFFFFF,) * 4,
        (0xFFFFFFFF,) * 2,
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
THREE = Problem([Law([3], [1]), Law([0, 9], [0.3, 0.7]), Law(range(10), [0.1] * 10)], 9)


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_philox_gives_the_published_words(counter: Any, key: Any, words: Any) -> None:
    """The generator is Philox4x32-10, not something like it."""
    assert philox(*counter, *key) == words


@given(st.lists(st.tuples(WORD, WORD, WORD, WORD), min_size=1, max_size=20), WORD, WORD)
def test_philox_is_the_same_for_integers_and_arrays(counters: list[Any], k0: int, k1: int) -> None:
    """Wrapping 64-bit products give the words that Python's integers give."""
    c0, c1, c2, c3 = np.array(counters, dtype=np.int64).T
    arrays = np.array(philox(c0, c1, c2, c3, k0, k1)).T.tolist()
    assert arrays == [list(philox(a, b, c, d, k0, k1)) for a, b, c, d in counters]


@given(st.integers(0, 2**70), st.lists(st.integers(1, 2**62), min_size=1, max_size=20))
def test_arrays_of_delays_equal_single_delays(seed: int, steps: list[int]) -> None:
    """`Problem.delays` and `World.delay` agree for every step and arm, also beyond 2**32."""
    world = THREE.world(seed)
    single = [[world.delay(step, arm) for arm in range(3)] for step in steps]
    assert THREE.delays(seed, np.array(steps)[:, None], np.arange(3)).tolist() == single


def test_delay_takes_numpy_integers_and_returns_plain_ones() -> None:
    """Steps and arms out of arrays give the same plain int, without overflow warnings."""
    world = THREE.world(1)
    for step in (1, 2**31, 2**40):
        delay = world.delay(np.int64(step), np.int64(2))  # as in loops
        assert type(delay) is int
        assert delay == world.delay(step, 2)


def test_delays_do_not_depend_on_the_order_of_the_plays() -> None:
    """Asking for steps backwards, or for one of them alone, changes no delay."""
    steps = np.arange(1, 200)
    forwards = THREE.delays(4, steps, 2)
    assert np.array_equal(THREE.delays(4, steps[::-1], 2)[::-1], forwards)
    assert THREE.delays(4, 77, 2) == forwards[76]


def test_delays_of_an_arm_do_not_depend_on_the_other_arms() -> None:
    """Another law for arm 0 leaves the delays of arm 1 as they are."""
    other = Problem([Law([7], [1]), *THREE.laws[1:]], 9)
    steps = np.arange(1, 500)
    assert np.array_equal(other.delays(4, steps, 1), THREE.delays(4, steps, 1))


def test_delays_keep_the_shape_of_the_question() -> None:
    """Numbers give a 0-dimensional array, grids give grids, nothing gives nothing."""
    assert THREE.delays(0, 1, 0).shape == ()
    assert THREE.delays(0, np.ones((4, 1), int), [0, 1]).shape == (4, 2)
    assert THREE.delays(0, np.zeros(0, int), 1).shape == (0,)


def test_delays_are_pinned() -> None:
    """A seed gives the same delays in every version of tarry."""
    assert THREE.delays(0, np.arange(1, 13), 2).tolist() == [5, 8, 4, 4, 7, 5, 4, 7, 7, 8, 5, 3]
    assert seed_words(0) == (2968811710, 3677149159)


def test_another_seed_gives_other_delays() -> None:
    """Two seeds agree on a fair coin about half of the time: 500 of 1000 steps, within 5 sigma."""
    coin = bernoulli(max_delay=1, probabilities=[0.5])
    steps = np.arange(1, 1001)
    agree = int(np.sum(coin.delays(1, steps, 0) == coin.delays(2, steps, 0)))
    assert abs(agree - 500) < 5 * np.sqrt(250)


def test_worlds_of_sparse_problems_are_small() -> None:
    """A fixed delay takes one cell and a two-point law two, whatever D is."""
    assert deterministic([5, 2**31 - 2], 2**31 - 2).world(0).cells.shape == (2, 2)
    assert bernoulli(3, 2**31 - 2).world(0).cells.shape == (6, 2)


def test_largest_delay_survives_the_packing() -> None:
    """The largest delay allowed is drawn unharmed, as a value and as an alias."""
    most = 2**31 - 2
    problem = Problem([Law([0, most], [0.9, 0.1]), Law([0, most], [0.1, 0.9])], most)
    delays = problem.delays(0, np.arange(1, 400)[:, None], [0, 1])
    assert set(delays.ravel().tolist()) == {0, most}


def test_worlds_have_one_layout() -> None:
    """Drawn and replayed worlds have arrays of the same types, so one compilation serves both."""

    def layout(world: World) -> list[Any]:
        arrays = (world.cells, world.offsets, world.table)
        return [(a.dtype, a.ndim, a.flags.c_contiguous, a.flags.writeable) for a in arrays]

    assert layout(THREE.world(0)) == layout(replay([[1, 2]], 2).world(0))


def test_uniform_parameters_are_apart_from_delays_and_streams() -> None:
    """Streams and seeds give different numbers in (0, 1), and more of them only adds at the end."""
    first = uniforms(1, 0, 1000)
    assert first.min() > 0
    assert first.max() < 1
    assert np.array_equal(uniforms(1, 0, 10), first[:10])
    for other in (uniforms(1, 1, 1000), uniforms(2, 0, 1000)):
        assert abs(np.corrcoef(first, other)[0, 1]) < 5 / np.sqrt(1000)
