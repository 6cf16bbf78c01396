"""Random numbers as a function of (seed, play, purpose): what the generator promises."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tarry.randomness import RETURN, SELECT, Random, new_random

PLAYS = 4000
M64 = (1 << 64) - 1


def literal_words(seed: int, number: int, purpose: int, count: int) -> list[int]:
    """The formula of the module's docstring, in Python's own numbers."""
    keys = np.random.SeedSequence(seed, spawn_key=(1,)).generate_state(2, np.uint64)
    golden = 0x9E3779B97F4A7C15
    position = ((4 * number + purpose) * (golden << 20) + int(keys[0])) & M64
    words = []
    for _ in range(count):
        position = (position + golden) & M64
        x = ((position ^ (position >> 30)) * 0xBF58476D1CE4E5B9) & M64
        x ^= int(keys[1])
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & M64
        words.append(x ^ (x >> 31))
    return words


@pytest.mark.parametrize("number", [1, 2, 77, 2**31, 2**42 - 1])
@pytest.mark.parametrize("purpose", [SELECT, RETURN])
def test_words_follow_the_formula(number: int, purpose: int) -> None:
    """The words of a play are those of the formula but for the last bit, whatever was drawn."""
    rng = new_random(123)
    for _ in range(3):
        rng.random()
        rng = rng.of_play(number, purpose)
        words = [word >> 1 for word in literal_words(123, number, purpose, 5)]
        assert [rng.word() for _ in range(5)] == words


def draws(take: Callable[[Random], float], seed: int = 5, purpose: int = SELECT) -> Any:
    """One draw for each of many plays, which is how rules use them."""
    rng = new_random(seed)
    found = []
    for number in range(1, PLAYS + 1):
        rng = rng.of_play(number, purpose)
        found.append(take(rng))
    return np.array(found)


LAWS: dict[str, tuple[Callable[[Random], float], Any]] = {
    "uniform": (lambda rng: rng.random(), stats.uniform()),
    "exponential": (lambda rng: rng.exponential(), stats.expon()),
    "normal": (lambda rng: rng.normal(), stats.norm()),
    "gamma(0.3)": (lambda rng: rng.gamma(0.3), stats.gamma(0.3)),
    "gamma(7.5)": (lambda rng: rng.gamma(7.5), stats.gamma(7.5)),
    "beta(0.5, 0.2)": (lambda rng: rng.beta(0.5, 0.2), stats.beta(0.5, 0.2)),
    "beta(1, 1)": (lambda rng: rng.beta(1.0, 1.0), stats.uniform()),
    "beta(3.2, 40)": (lambda rng: rng.beta(3.2, 40.0), stats.beta(3.2, 40)),
}


@pytest.mark.parametrize("name", LAWS)
def test_draws_of_neighbouring_plays_have_their_law(name: str) -> None:
    """By Kolmogorov and Smirnov at one in ten thousand, and neighbours are not correlated."""
    take, law = LAWS[name]
    found = draws(take)
    assert stats.kstest(found, law.cdf).pvalue > 1e-4
    ranks = stats.rankdata(found)
    for other in (np.roll(ranks, 1), stats.rankdata(draws(take, seed=6))):
        assert abs(np.corrcoef(ranks, other)[0, 1]) < 4 / math.sqrt(PLAYS)


def test_purposes_are_independent() -> None:
    """What decides on a play says nothing about what is drawn on its answer."""
    one = draws(lambda rng: rng.random(), purpose=SELECT)
    other = draws(lambda rng: rng.random(), purpose=RETURN)
    assert abs(np.corrcoef(one, other)[0, 1]) < 4 / math.sqrt(PLAYS)


def test_whole_numbers_are_equally_likely() -> None:
    """Each of seven numbers comes as often as it should, within five standard errors."""
    counts = np.bincount(draws(lambda rng: rng.integers(7)).astype(int), minlength=7)
    assert len(counts) == 7
    spread = math.sqrt(PLAYS * (1 / 7) * (6 / 7))
    assert np.abs(counts - PLAYS / 7).max() < 5 * spread


@pytest.mark.parametrize(
    "shapes", [(1e-8, 1e-8), (1e-300, 1e-300), (1e-320, 3e-320), (1e6, 1e-6), (1e12, 1e12)]
)
def test_extreme_shapes_give_numbers(shapes: tuple[float, float]) -> None:
    """However small or large the shapes, a draw is a number from 0 to 1 and the mean is right."""
    rng = new_random(8)
    rng = rng.of_play(1, SELECT)
    found = np.array([rng.beta(*shapes) for _ in range(400)])
    assert ((found >= 0) & (found <= 1)).all()
    mean = 1 / (1 + shapes[1] / shapes[0])
    assert abs(found.mean() - mean) < 5 * math.sqrt(mean * (1 - mean) / 400) + 1e-9


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda rng: rng.beta(0.0, 0.0), "two shapes above 0"),
        (lambda rng: rng.beta(-1.0, 0.5), "two shapes above 0"),
        (lambda rng: rng.beta(math.nan, 0.5), "two shapes above 0"),
        (lambda rng: rng.gamma(-0.5), "a shape above 0"),
        (lambda rng: rng.integers(0), "a count of at least 1"),
    ],
)
def test_impossible_draws_are_refused(draw: Callable[[Random], float], words: str) -> None:
    """Nothing hangs, and nothing is made up."""
    with pytest.raises(ValueError, match=words):
        draw(new_random(1))
