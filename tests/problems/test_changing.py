"""Problems that change: exact means at each step, and what the simulator makes of them."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sizes import examples

import tarry
from tarry.errors import InputError
from tarry.experiments.from_text import experiment_from, read_toml
from tarry.problems import Changing, Law, Problem, changing, drifting, outage
from tarry.problems.problem import Payoff


def plain(seed: int) -> Problem:
    """A problem that does not change."""
    return tarry.problems.bernoulli(arms=4, max_delay=30, seed=seed)


def worlds() -> dict[str, Changing]:
    """One of each kind, and two on top of each other."""
    jump = changing({1: plain(1), 300: plain(2), 420: plain(3)})
    drift = drifting(plain(1), plain(2), 100, 400)
    return {
        "jump": jump,
        "drift": drift,
        "drift from the start": drifting(plain(5), plain(6), 1, 650),
        "hang": outage(plain(1), 1, 200, 500, in_flight=True),
        "slow in a jump": outage(jump, 0, 250, 350, "slow", factor=1.5),
        "empty in a drift": outage(drift, "2", 150, 350, "empty", share=0.5),
    }


@pytest.mark.xdist_group("baselines")  # whose loop over worlds that change is compiled once
@pytest.mark.parametrize("payoff", ["cost", "reward"])
@pytest.mark.parametrize("name", worlds())
def test_regret_is_against_the_best_arm_of_each_step(name: str, payoff: Payoff) -> None:
    """In both modes the regret is the sum of the gaps of the steps, and delays are as told."""
    problem, horizon = worlds()[name], 700
    for mode in ("compiled", "interpreted"):
        run = tarry.play(
            tarry.Uniform(), problem, payoff=payoff, horizon=horizon, seed=5, mode=mode
        )
        gaps = problem.gaps_at(run.steps, payoff)
        assert gaps.min() == 0.0
        assert run.regret == pytest.approx(gaps[np.arange(horizon), run.arms].cumsum(), abs=1e-9)
        assert np.array_equal(run.delays, problem.delays(5, run.steps, run.arms))


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 2**20), arms=st.integers(1, 6), span=st.integers(1, 90))
def test_drift_is_cut_wherever_another_arm_becomes_the_best(
    seed: int, arms: int, span: int
) -> None:
    """Whatever the lines of the means do, the rates of all pieces give the gaps of every step."""
    start, end = (tarry.problems.bernoulli(arms, 9, seed=seed + i) for i in (0, 1))
    problem = drifting(start, end, 7, 7 + span)
    steps = np.arange(1, 20 + span)
    first = problem.plan[:, 0]
    piece = np.searchsorted(first, steps, "right") - 1
    for payoff in ("cost", "reward"):
        gaps, slopes = problem.regret_rates(payoff).reshape(2, -1, arms)
        told = gaps[piece] + slopes[piece] * (steps - first[piece])[:, None]
        assert told == pytest.approx(problem.gaps_at(steps, payoff), abs=1e-12)


def test_means_are_those_of_the_laws_drawn_from() -> None:
    """Over many seeds, the mean delay of a step of a drift is the mean that it says."""
    problem = drifting(plain(1), plain(2), 100, 400)
    step, runs = 310, 4000
    seen = np.array([problem.delays(seed, step, np.arange(4)) for seed in range(runs)])
    error = seen.std(0) / runs**0.5
    assert (np.abs(seen.mean(0) - 30 * problem.means_at(step)) < 5 * error).all()


def test_plays_in_flight_hang_if_asked_for() -> None:
    """Plays that are out when the outage begins take D, those that are back stay what they were."""
    calm = tarry.problems.from_pmf([Law([2, 8], [0.5, 0.5])] * 2, max_delay=30)
    steps = np.arange(1, 120)
    usual = calm.delays(3, steps, 1)
    kept = outage(calm, 1, 60, 80).delays(3, steps, 1)
    caught = outage(calm, 1, 60, 80, in_flight=True).delays(3, steps, 1)
    broken = (steps >= 60) & (steps <= 80)
    out = (steps < 60) & (steps + usual >= 60)
    assert out.any()
    assert np.array_equal(kept, np.where(broken, 30, usual))
    assert np.array_equal(caught, np.where(broken | out, 30, usual))


@pytest.mark.parametrize("name", worlds())
def test_saved_pickled_and_told_apart(name: str, tmp_path: Path) -> None:
    """What is read back, or unpickled, is equal; another one is not."""
    problem = worlds()[name]
    problem.save(tmp_path / "problem")
    for again in (tarry.problems.load(tmp_path / "problem"), pickle.loads(pickle.dumps(problem))):  # noqa: S301  # made in this line
        assert again == problem
        assert again.changes.tolist() == problem.changes.tolist()
        assert hash(again) == hash(problem)
    assert problem != worlds()["jump" if name != "jump" else "hang"]
    assert problem != plain(1)
    assert f"{len(problem.changes)} change" in repr(problem)


def test_says_when_it_changes() -> None:
    """Changes are the first steps of pieces, and both ends of a drift."""
    found = {name: problem.changes.tolist() for name, problem in worlds().items()}
    assert found["jump"] == [300, 420]
    assert found["drift"] == [100, 400]
    assert found["drift from the start"] == [650]
    assert found["hang"] == [200, 501]
    assert found["slow in a jump"] == [250, 300, 351, 420]


def test_memory_does_not_depend_on_the_horizon() -> None:
    """A piece that begins at step 10^15 takes no more room than one at step 10."""
    late, early = (changing({1: plain(1), step: plain(2)}).world(0) for step in (10**15, 10))
    sizes = [
        [np.asarray(part).nbytes for part in (*w.laws, w.plan, w.caught)] for w in (late, early)
    ]
    assert sizes[0] == sizes[1]
    assert changing({1: plain(1), 10**15: plain(2)}).delays(0, [10**15], [0]).shape == (1,)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: changing({}), "give a dict of problems by step"),
        (lambda: changing({2: plain(1)}), "must begin with step 1"),
        (lambda: changing({1: plain(1), 0: plain(2)}), "first step of a piece is 0"),
        (lambda: changing({1: plain(1), "x": plain(2)}), "first step of a piece is 'x'"),
        (lambda: changing({1: 3}), "A piece is 3"),
        (lambda: changing({1: plain(1), 9: worlds()["jump"]}), "does not change itself"),
        (
            lambda: changing({1: plain(1), 9: tarry.problems.deterministic([1], max_delay=2)}),
            "arms and max_delay must be the same",
        ),
        (lambda: drifting(plain(1), plain(2), 10, 10), "last step is 10"),
        (lambda: outage(plain(1), "x", 1, 2), "There is no arm 'x'"),
        (lambda: outage(plain(1), 4, 1, 2), "arm is 4"),
        (lambda: outage(plain(1), 0, 5, 2), "last step of the outage is 2"),
        (lambda: outage(plain(1), 0, 1, 2, "gone"), "must be one of 'hang', 'slow', 'empty'"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: outage(plain(1), 0, 1, 2, "slow", factor=0.5), "factor is 0.5"),
        (lambda: outage(plain(1), 0, 1, 2, share=0), "share is 0"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(make: Any, words: str) -> None:
    """What was wrong, the value, what is allowed."""
    with pytest.raises(InputError) as caught:
        make()
    assert words in str(caught.value)
    assert str(caught.value).count(". ") == 0


def test_comparisons_know_them(tmp_path: Path) -> None:
    """From a TOML file: pieces are tables, drawn anew for each run; results say when it changes."""
    file = tmp_path / "change.toml"
    file.write_text(
        'policies = ["Uniform"]\npayoff = "cost"\nhorizon = 60\nruns = 2\nrecord = 5\n'
        '[problem]\nfamily = "changing"\n'
        '[problem.pieces.1]\nfamily = "bernoulli"\narms = 2\nmax_delay = 9\n'
        '[problem.pieces.30]\nfamily = "bernoulli"\narms = 2\nmax_delay = 9\n'
        '[problems.broken]\nfamily = "outage"\narm = 1\nfirst = 10\nlast = 20\n'
        '[problems.broken.problem]\nfamily = "bernoulli"\narms = 2\nmax_delay = 9\nseed = 3\n'
    )
    experiment = experiment_from(read_toml(file))
    drawn, fixed = (case.source for case in experiment.cases)
    assert isinstance(fixed, Changing)
    assert not isinstance(drawn, Problem)
    one, other = drawn(0), drawn(1)
    assert isinstance(one, Changing)
    assert one != other
    assert not np.array_equal(*one.means_at([29, 30]))
    result = tarry.compare(
        [tarry.Uniform()], problems=worlds()["jump"], payoff="cost", horizon=500, runs=1
    )
    assert list(result.changes()) == [300, 420]
    result.plot(tmp_path / "marked.svg")
    assert (tmp_path / "marked.svg").read_text().count("<path") > 3
