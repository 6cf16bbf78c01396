"""Worlds with contexts: everything about them is exact, and a context depends on nothing played."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tarry
from tarry.errors import InputError
from tarry.problems import REGRESSIONS, Contextual, Law, Problem, contextual, load
from tarry.problems.context_world import draw_contexts
from tarry.problems.regressions import grid
from tarry.simulation.play import Mode

PHONE = tarry.problems.bernoulli(3, 20, probabilities=[0.2, 0.5, 0.7])
DESKTOP = tarry.problems.bernoulli(3, 20, probabilities=[0.9, 0.5, 0.1])
SEGMENTS = tarry.problems.segments({"phone": PHONE, "desktop": DESKTOP}, weights=[7, 3])
SMALL: dict[str, Contextual] = {
    **{name: family(3, 2, 300, seed=4, contexts=6) for name, family in REGRESSIONS.items()},
    "segments": SEGMENTS,
    "table": tarry.problems.from_table([[1.0, np.nan], [2.0, 3.0]], [[4, 0], [7, 9]], 9),
}
every_problem = pytest.mark.parametrize("problem", SMALL.values(), ids=SMALL)


def test_everything_about_segments_is_exact() -> None:
    """Means, best arms and gaps of each segment are those of its problem; weights average them."""
    assert np.array_equal(SEGMENTS.context_means, [PHONE.means, DESKTOP.means])
    named = {"desktop": 3, "phone": 7}  # in any order
    assert tarry.problems.segments({"phone": PHONE, "desktop": DESKTOP}, named) == SEGMENTS
    assert SEGMENTS.means == pytest.approx(0.7 * PHONE.means + 0.3 * DESKTOP.means)
    for payoff in ("cost", "reward"):
        gaps = [PHONE.gaps(payoff), DESKTOP.gaps(payoff)]
        assert np.array_equal(SEGMENTS.context_gaps(payoff), gaps)
        assert SEGMENTS.context_best(payoff).tolist() == [p.best(payoff) for p in (PHONE, DESKTOP)]
        assert SEGMENTS.fixed_gaps(payoff) == pytest.approx(0.7 * gaps[0] + 0.3 * gaps[1])
        fixed = SEGMENTS.fixed_gaps(payoff)
        assert int(np.argmin(fixed)) == SEGMENTS.best(payoff)


@every_problem
def test_laws_over_all_contexts_are_mixtures(problem: Contextual) -> None:
    """The chance of every delay of an arm is the weighted sum of its chances in the contexts."""
    for arm, law in enumerate(problem.laws):
        wanted = np.zeros(problem.max_delay + 1)
        for weight, part in zip(
            problem.weights, problem.context_laws[arm :: problem.arms], strict=True
        ):
            wanted[part.values] += weight * part.probabilities
        found = np.zeros_like(wanted)
        found[law.values] = law.probabilities
        assert found == pytest.approx(wanted, abs=1e-12)


@every_problem
def test_regret_is_against_the_best_arm_of_each_context(problem: Contextual) -> None:
    """A run adds up the gap of the arm played in the context that its step has."""
    for payoff in ("cost", "reward"):
        run = tarry.play(tarry.Uniform(), problem, payoff=payoff, horizon=300, seed=5)
        gaps = problem.context_gaps(payoff)[run.contexts, run.arms]
        assert run.regret == pytest.approx(np.cumsum(gaps))
        assert np.array_equal(run.contexts, problem.contexts(5, np.arange(1, 301)))
        assert np.array_equal(run.delays, problem.delays(5, run.steps, run.arms))


def test_contexts_come_with_their_weights_and_do_not_touch_delays() -> None:
    """Shares of contexts fit the weights; the delays of each virtual arm fit its own law."""
    steps = np.arange(1, 40_001)
    drawn = SEGMENTS.contexts(11, steps)
    counts = np.bincount(drawn, minlength=2)
    assert stats.chisquare(counts, SEGMENTS.weights * len(steps)).pvalue > 1e-4
    for arm in range(3):
        delays = SEGMENTS.delays(11, steps, arm)
        for context in range(2):
            late = (delays[drawn == context] == 20).sum()
            share = SEGMENTS.context_means[context, arm]
            assert stats.binomtest(int(late), int(counts[context]), share).pvalue > 1e-4


def test_context_of_a_step_is_the_same_wherever_it_is_asked_for() -> None:
    """One by one, in an array, and in a run that records few steps."""
    world = SEGMENTS.world(3)
    steps = np.array([1, 2, 5, 77, 2**40])
    assert [world.context(int(step)) for step in steps] == draw_contexts(world, steps).tolist()
    run = tarry.play(tarry.Uniform(), SEGMENTS, payoff="cost", horizon=90, seed=3, record=[5, 77])
    assert run.contexts.tolist() == SEGMENTS.contexts(3, [5, 77]).tolist()


def test_one_context_is_a_world_without() -> None:
    """With one context the delays, arms and regret of a run are those of the plain problem."""
    alone = contextual(PHONE.laws, np.zeros((1, 3)), 20)
    modes: dict[Any, Mode] = {tarry.SurvivalThompson(): "compiled", tarry.BDSE(): "interpreted"}
    for policy, mode in modes.items():
        plain, one = (
            tarry.play(policy, problem, payoff="cost", horizon=2000, seed=2, mode=mode)
            for problem in (PHONE, alone)
        )
        assert np.array_equal(plain.arms, one.arms)
        assert np.array_equal(plain.regret, one.regret)
        assert not plain.contexts.any()
        assert not one.contexts.any()


@every_problem
def test_saved_pickled_and_printed(problem: Contextual, tmp_path: Path) -> None:
    """A problem comes back equal from a file and from a pickle, and says its size."""
    problem.save(tmp_path / "problem")
    for again in (load(tmp_path / "problem"), pickle.loads(pickle.dumps(problem))):  # noqa: S301
        assert isinstance(again, Contextual)
        assert again == problem
        assert hash(again) == hash(problem)
        assert again.columns == problem.columns
        assert again.label == problem.label
    assert f"{len(problem.rows)} contexts" in repr(problem)
    assert "memory of a run: laws" in str(problem)


def test_contexts_and_features_are_part_of_equality() -> None:
    """Other features or other weights make another problem."""
    laws = [*PHONE.laws, *DESKTOP.laws]
    one = contextual(laws, np.eye(2), 20, [7, 3])
    assert one != contextual(laws, np.eye(2), 20, [3, 7])
    assert one != contextual(laws, 2 * np.eye(2), 20, [7, 3])
    assert one != Problem(one.laws, 20)


PINNED = {
    "log_linear": 66.579152,
    "linear": 160.481932,
    "proportional_hazards": 60.991199,
    "no_answer": 84.216617,
}


@pytest.mark.parametrize("name", REGRESSIONS)
def test_families_are_pinned(name: str) -> None:
    """A seed gives the same problem in every version."""
    problem = SMALL[name]
    assert problem.mean_delays.mean() == pytest.approx(PINNED[name], rel=1e-6)
    assert problem.label.startswith(f"{name}(arms=3, features=2, max_delay=300, contexts=6")


def test_weibull_scales_are_log_linear() -> None:
    """P(d > x) at the cuts of the grid is that of the Weibull law whose scale the model says."""
    problem = tarry.problems.log_linear(2, 2, 200, seed=1, contexts=400)
    logs = []
    for law in problem.context_laws[::2]:
        cuts = np.arange(200) + 0.5
        tails = np.asarray(law.survival(cuts))
        inside = (tails > 1e-3) & (tails < 0.999)
        slope, start = np.polyfit(np.log(cuts[inside]), np.log(-np.log(tails[inside])), 1)
        logs.append(-start / slope)
    design = np.column_stack([np.ones(400), problem.features])
    fit, *_ = np.linalg.lstsq(design, logs, rcond=None)
    assert np.abs(design @ fit - logs).max() < 1e-6
    assert np.linalg.norm(fit[1:]) == pytest.approx(1.0)


def test_linear_means_are_linear() -> None:
    """Means are exactly linear in the features, with numbers from 0 to 1."""
    problem = tarry.problems.linear(3, 4, 50, seed=2, contexts=60)
    theta, *_ = np.linalg.lstsq(problem.features, problem.context_means, rcond=None)
    assert problem.features @ theta == pytest.approx(problem.context_means)
    assert theta.min() > 0
    assert theta.max() < 1


def test_grid_holds_both_ends_and_few_values() -> None:
    """0 and D are delays, neighbours are close, and there are at most 256, however large D is."""
    for most in (1, 2, 255, 256, 2000, 10**6, 2**31 - 2):
        values = grid(most)
        assert (values[0], values[-1]) == (0, most)
        assert len(values) <= 256
        assert (np.diff(values) > 0).all()


def test_a_large_delay_says_what_it_costs() -> None:
    """D = 10^6 costs as much for its laws as D = 2000, says so, and is refused where it cannot."""
    problem = tarry.problems.log_linear(2, 8, 10**6, seed=0, contexts=50)
    assert problem.table_bytes <= 50 * 2 * 256 * 16
    assert problem.row_bytes == 8 * 8 * 2**20
    assert "features of plays that may be out 64.0 MiB" in str(problem)
    with pytest.raises(InputError, match=r"would take 32\.\d GiB of memory"):
        tarry.problems.log_linear(10, 2, 10**6, contexts=10**6)


LAW = Law([1], [1.0])
BAD = {
    "ragged features": (
        lambda: tarry.problems.from_table([[1.0], [2.0, 3.0]], [[1, 2], [1, 2]], 5),
        "The features are",
    ),
    "weights of other segments": (
        lambda: tarry.problems.segments({"a": PHONE, "b": PHONE}, weights={"a": 1, "c": 2}),
        "must be for the segments a, b",
    ),
    "no laws": (lambda: contextual([], [[1.0]], 3), "Laws given: 0, contexts: 1;"),
    "odd laws": (lambda: contextual([LAW] * 3, np.eye(2), 3), "Laws given: 3, contexts: 2;"),
    "one dimension": (lambda: contextual([LAW], [1.0], 3), r"shape \(1,\)"),
    "infinite": (lambda: contextual([LAW], [[np.inf]], 3), "A feature is infinite"),
    "weights": (lambda: contextual([LAW], [[1.0]], 3, [0.0]), "1 numbers from 0 on, not all"),
    "no segments": (lambda: tarry.problems.segments({}), "give a dict of problems by name"),
    "nested": (lambda: tarry.problems.segments({"a": SEGMENTS}), "without contexts"),
    "other arms": (
        lambda: tarry.problems.segments({"a": PHONE, "b": tarry.problems.bernoulli(2, 20)}),
        "must be the same",
    ),
    "rows": (lambda: tarry.problems.from_table([[1.0]], [[1], [2]], 3), "as many rows"),
    "long": (
        lambda: tarry.problems.from_table([[1.0]], [[5]], 3),
        r"row 1 \(counted from 1\) of arm 0 is 5, above max_delay = 3; above='clip'",
    ),
    "below": (
        lambda: tarry.problems.from_table([[1.0]], [[1, -5]], 3),
        r"The time in row 1 \(counted from 1\) of arm 1 is -5, below 0; it must be 0 or more",
    ),
    "not known": (
        lambda: tarry.problems.from_table([[1.0], [2.0]], [[1], [np.nan]], 3, ["a"], above="clip"),
        r"row 2 \(counted from 1\) of arm 'a' is missing; every time must be known",
    ),
    "above": (lambda: tarry.problems.from_table([[1.0]], [[5]], 3, above="cut"), "'clip'"),  # type: ignore[arg-type]
    "shape": (lambda: tarry.problems.log_linear(shape="gamma"), "'log-normal'"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("make", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_refused(make: object, words: str) -> None:
    """In one sentence that says what is allowed."""
    assert callable(make)
    with pytest.raises(InputError, match=words):
        make()


def test_times_above_the_delay_can_be_cut() -> None:
    """A time above D counts as D where that is asked for; data frames name arms and features."""
    import pandas as pd

    frame = pd.DataFrame({"size": [1.0, 2.0]}), pd.DataFrame({"a": [0.2, 9.0], "b": [1.0, 2.0]})
    problem = tarry.problems.from_table(*frame, 30, unit=0.1, above="clip")
    assert problem.context_means.tolist() == [[2 / 30, 10 / 30], [1.0, 20 / 30]]
    assert problem.names == ("a", "b")
    assert problem.columns == ("size",)
