"""Curves, means, differences and the best arm, against lifelines and against known truths."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import tarry
from tarry.errors import InputError, UnknownNameError
from tarry.logs.confidence import mean_draws

from .made_up import censored_log, export, pages


@pytest.mark.parametrize("seed", range(4))
def test_estimates_are_those_of_lifelines(seed: int) -> None:
    """Survival, Greenwood's variance and restricted mean agree with lifelines."""
    from lifelines import KaplanMeierFitter
    from lifelines.utils import restricted_mean_survival_time

    log = censored_log(np.random.default_rng(seed), plays=60)
    for name in log.names:
        times, finished = log.of_arm(name)
        theirs = KaplanMeierFitter().fit(times, finished)
        ours = log.curves()[name]
        inside = ours.times < log.max_delay
        expected = theirs.survival_function_at_times(ours.times).to_numpy()
        assert np.allclose(ours.survival, expected, rtol=0, atol=1e-12)
        mean = restricted_mean_survival_time(theirs, t=log.max_delay)
        assert log.means()[name].mean == pytest.approx(mean, abs=1e-9)
        spread = theirs._cumulative_sq_.to_numpy()
        where = np.searchsorted(theirs.timeline, ours.times[inside], "right") - 1
        greenwood = ours.survival[inside] ** 2 * spread[where]
        assert np.allclose(ours.variance[inside], greenwood, rtol=1e-9, atol=1e-12)


def test_variance_of_the_restricted_mean() -> None:
    """Without unfinished plays it is the variance of a mean, and with them that of the areas."""
    rng = np.random.default_rng(1)
    times = rng.uniform(0, 10, 40)
    curve = tarry.Log.of(["a"] * 40, times, finished=True, max_delay=20).kaplan_meier["a"]
    assert curve.restricted_mean(20) == pytest.approx(times.mean())
    assert curve.restricted_variance(20) == pytest.approx(times.var() / 40)
    assert curve.restricted_variance(5) == pytest.approx(np.minimum(times, 5).var() / 40)


@pytest.mark.parametrize("wins", [0, 1, 3, 8])
def test_limits_of_coins_are_those_of_clopper_and_pearson(wins: int) -> None:
    """For payoffs 0 or D the interval is the exact one of a coin."""
    count, limit, draws = 8, 10.0, 40_000
    times = np.array([limit] * wins + [0.0] * (count - wins))
    found = mean_draws(times, np.ones(count, bool), limit, [1], draws).limits(0.95)
    exact = scipy.stats.binomtest(wins, count).proportion_ci(0.95, "exact")
    # The quantile of a share has the standard error sqrt(p q / draws) / density; 0.01 is above
    # five of them for each of these beta laws.
    assert found == pytest.approx((limit * exact.low, limit * exact.high), abs=0.1)


@given(
    st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=12),
    st.integers(1, 12),
)
def test_intervals_hold_the_estimate(plays: list[tuple[int, bool]], limit: int) -> None:
    """Low, mean and high stand in this order within 0..D, whatever the order of the rows."""
    times, finished = zip(*plays, strict=True)
    log = tarry.Log.of(["a"] * len(plays), times, finished, max_delay=limit)
    mean = log.means()["a"]
    assert 0 <= mean.low <= mean.mean <= mean.high <= limit + 1e-9
    curve = log.curves()["a"]
    assert (curve.low <= curve.survival).all()
    assert (curve.survival <= curve.high).all()
    assert (np.diff(curve.survival) <= 0).all()
    back = tarry.Log.of(["a"] * len(plays), times[::-1], finished[::-1], max_delay=limit)
    assert back.means() == log.means()


def test_many_plays_are_as_exact_as_few() -> None:
    """With thousands of distinct times the interval is that of the central limit theorem."""
    times = np.random.default_rng(3).exponential(100, 20_000)
    log = tarry.Log.of(["a"] * len(times), times, finished=True, max_delay=600)
    mean = log.means()["a"]
    error = 1.96 * np.minimum(times, 600).std() / len(times) ** 0.5
    assert mean.mean == pytest.approx(np.minimum(times, 600).mean())
    assert (mean.high - mean.low) / 2 == pytest.approx(error, rel=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_unfinished_visits_do_not_make_the_wrong_winner(seed: int) -> None:
    """Read as finished, the quiz wins; as what they are, the essay, which is the truth."""
    log = export(seed)
    truth = dict(zip(pages().names, pages().mean_delays, strict=True))
    assert truth["essay"] > truth["quiz"] + 35
    naive = {name: log.of_arm(name)[0].mean() for name in log.names}
    assert naive["quiz"] > naive["essay"] + 20
    for name, mean in log.means().items():
        assert mean.low <= truth[name] <= mean.high
    best = log.best("reward")
    assert best.arm == "essay"
    assert best["essay"] > 0.75
    assert log.best("cost").arm == "quiz"


def test_best_adds_up_and_knows_what_it_loses() -> None:
    """Probabilities sum to 1, the arm chosen loses least, and the two payoffs are opposite."""
    log = censored_log(np.random.default_rng(8), plays=20)
    reward, cost = log.best("reward"), log.best("cost")
    assert sum(reward.values()) == pytest.approx(1)
    assert reward["a"] == pytest.approx(cost["b"])
    assert reward.loss[reward.arm] == min(reward.loss.values())
    assert str(reward).splitlines()[0].split() == ["arm", "best", "loss", "if", "chosen"]


def test_differences_turn_round() -> None:
    """What a exceeds b by is the negative of b minus a; other pairs are unknown."""
    differences = censored_log(np.random.default_rng(8), plays=20).differences()
    forth, back = differences["a", "b"], differences["b", "a"]
    assert forth.low <= forth.difference <= forth.high
    assert (back.low, back.difference, back.high) == (-forth.high, -forth.difference, -forth.low)
    assert forth.clear == back.clear


def test_an_unknown_arm_is_refused_with_the_arms_there_are() -> None:
    """Every answer by arm says them in one sentence; it is a KeyError, and get gives None."""
    log = censored_log(np.random.default_rng(8), plays=20)
    best = log.best("cost")
    bounds = log.decide("cost").bounds
    for answer in (log.curves(), log.means(), best, best.loss, bounds):
        with pytest.raises(KeyError) as caught:
            answer["c"]
        assert str(caught.value) == "There is no arm 'c'; the arms are a, b."
        assert answer.get("c") is None
    differences: Any = log.differences()
    with pytest.raises(UnknownNameError, match="no arm 'c'; the arms are a, b"):
        differences["a", "c"]
    for pair in ("a", ("a", "a")):
        with pytest.raises(KeyError, match="name two of the arms a, b"):
            differences[pair]


def test_arm_that_nobody_watched_to_the_end_is_open() -> None:
    """Where no play was watched up to D, the interval allows for both ends, and words say so."""
    log = tarry.Log.of(
        ["a"] * 50 + ["b"] * 50, [30] * 100, [False] * 50 + [True] * 50, max_delay=90
    )
    mean = log.means()["a"]
    assert (mean.known_to, mean.open_end) == (30, True)
    assert "≤ 90" in str(log.means())
    assert mean.low < 30
    assert mean.high == pytest.approx(90)
    assert "No play of a was watched beyond 30" in log.summary("reward")
    assert 0.5 < log.best("reward")["a"] < 1


def test_arm_without_plays_may_be_anything() -> None:
    """An arm that was never played has an interval from 0 to D, and words say so."""
    log = tarry.Log(
        names=("a", "b"),
        arms=np.zeros(3, np.int64),
        times=np.array([1.0, 2.0, 3.0]),
        finished=np.ones(3, bool),
        max_delay=9.0,
    )
    mean = log.means()["b"]
    assert (mean.low, mean.high, mean.plays, mean.open_end) == (0.0, 9.0, 0, True)
    assert log.curves()["b"].survival.tolist() == [1.0]
    assert log.best("cost").arm == "a"
    assert "No play of b was watched beyond 0" in log.summary("cost")
    assert not log.decide("cost").stop


def test_summary_says_what_is_clear() -> None:
    """A clear winner is named as such, for both payoffs, and an unclear one is not."""
    rng = np.random.default_rng(4)
    times = np.concatenate([rng.uniform(0, 10, 200), rng.uniform(20, 30, 200)])
    log = tarry.Log.of(["a"] * 200 + ["b"] * 200, times, finished=True, max_delay=40)
    assert "b has the longest mean" in log.summary("reward")
    assert "better than every other arm, with 95 % confidence" in log.summary("reward")
    assert "a has the shortest mean" in log.summary("cost")
    same = tarry.Log.of(["a", "b", "c"] * 9, range(27), finished=True, max_delay=40)
    assert "It is not clear yet that it is better than" in same.summary("cost")
    alone = tarry.Log.of(["a"] * 9, range(9), finished=True, max_delay=40)
    assert "a has a mean of" in alone.summary("cost")


def test_bad_questions_are_refused() -> None:
    """Levels, payoffs and arms that do not exist."""
    log = tarry.Log.of(["a", "b"], [1, 2], finished=True, max_delay=4)
    with pytest.raises(InputError, match="The level is 95; it must be above 0 and below 1"):
        log.means(level=95)
    with pytest.raises(InputError, match="payoff"):
        log.best("money")  # type: ignore[arg-type]  # that is the point
    with pytest.raises(UnknownNameError, match="no arm named 'c'"):
        log.of_arm("c")


def test_problem_has_the_estimated_laws() -> None:
    """The means of the problem are those of the log, also after rounding to a unit."""
    log = export(2)
    problem = log.problem()
    means = [log.means()[name].mean for name in problem.names]
    assert problem.mean_delays == pytest.approx(means)
    assert problem.max_delay == 600
    fine = log.problem(unit=0.5)
    assert fine.mean_delays / 2 == pytest.approx(means)
    shares = tarry.Log.of(["a"] * 3, [0.1, 0.25, 3.0], finished=True, max_delay=2)
    assert shares.problem().max_delay == 1000
    with pytest.raises(InputError, match="must not be longer than the max_delay 2"):
        shares.problem(unit=7)


def test_picture_is_drawn(tmp_path: Path) -> None:
    """Curves and means go into a file, or into axes of the caller."""
    log = export(1)
    log.plot(tmp_path / "log.svg")
    assert "<svg" in (tmp_path / "log.svg").read_text()
    axes = Figure().subplots()
    assert log.plot(axes=axes) is axes
    assert len(axes.lines) == 2
