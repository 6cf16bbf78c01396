"""Decisions at every look: limits that hold, rules that stop, and what they refuse."""

import math

import numpy as np
import pytest

import tarry
from tarry.errors import InputError
from tarry.experiments.identification import log_of_run
from tarry.logs.anytime import BETS, anytime_limits, bet_lower, capital, prefixes
from tarry.problems.problem import Problem

from .made_up import censored_log

RUNS, PLAYS, MISS = 400, 300, 0.2


@pytest.mark.parametrize("law", ["coin", "rare", "spread"])
def test_limits_miss_at_no_look_more_often_than_allowed(law: str) -> None:
    """Looking after every play, a limit is ever wrong in at most a share `miss` of the runs."""
    rng = np.random.default_rng(6)
    draws = {
        "coin": (rng.random((RUNS, PLAYS)) < 0.3).astype(float),
        "rare": (rng.random((RUNS, PLAYS)) < 0.02).astype(float),
        "spread": rng.random((RUNS, PLAYS)),
    }[law]
    mean = {"coin": 0.3, "rare": 0.02, "spread": 0.5}[law]
    every = np.arange(PLAYS)
    missed = sum(capital(values / mean - 1.0, every) >= 1 / MISS for values in draws)
    # At most MISS * RUNS on average; five standard errors more do not happen.
    assert missed <= RUNS * MISS + 5 * math.sqrt(RUNS * MISS * (1 - MISS))
    lower = bet_lower(draws[0], prefixes(PLAYS), MISS)
    assert 0 <= lower < draws[0].mean()


def test_lower_limit_is_where_the_capital_is_enough() -> None:
    """Just below the limit some bet has won 1 / miss; just above, none has."""
    values = np.random.default_rng(2).random(200)
    firsts = prefixes(200)
    starts = np.concatenate([[0], firsts[:-1]])
    limit = bet_lower(values, firsts, 0.05)
    assert capital(values / (0.999 * limit) - 1.0, starts) > 20
    assert capital(values / (1.001 * limit) - 1.0, starts) < 20
    one_bet = np.cumprod(1.0 + BETS[3] * (values / 0.4 - 1.0))
    assert capital(values / 0.4 - 1.0, np.arange(200)) >= one_bet.max() / len(BETS)


def test_unfinished_plays_count_as_what_is_known() -> None:
    """Limits with unfinished plays hold those without, and both ends stay open for no plays."""
    rng = np.random.default_rng(3)
    delays = np.minimum(rng.exponential(30, 300), 100)
    ages = np.linspace(300, 0, 300)
    over = (delays <= ages) | (ages >= 100)
    known = anytime_limits(np.minimum(delays, ages), over, 100, 0.05)
    full = anytime_limits(delays, np.ones(300, bool), 100, 0.05)
    assert known[0] <= full[0] <= delays.mean() <= full[1] <= known[1]
    # The pieces that everybody is old enough for are not spoilt by those who are younger.
    worst = anytime_limits(np.minimum(delays, ages), over, 100, 0.05 / 3)
    assert known[1] - known[0] < worst[1] - worst[0]
    assert anytime_limits(np.zeros(0), np.zeros(0, bool), 100, 0.05) == (0.0, 100)


def test_decision_stops_when_it_can_and_says_so() -> None:
    """A large gap stops, a small one goes on unless it is tolerated; cost turns it round."""
    rng = np.random.default_rng(4)
    times = np.concatenate([rng.uniform(0, 10, 200), rng.uniform(20, 30, 200)])
    log = tarry.Log.of(["a"] * 200 + ["b"] * 200, times, finished=True, max_delay=40)
    reward, cost = log.decide("reward"), log.decide("cost")
    assert (reward.stop, reward.arm, cost.stop, cost.arm) == (True, "b", True, "a")
    assert reward.sentence.startswith("Stop: b is the best arm (with an error rate of 5 %")
    alike = tarry.Log.of(["a", "b"] * 200, rng.uniform(0, 10, 400), finished=True, max_delay=10)
    assert not alike.decide("reward").stop
    assert "Go on: the safest arm is" in str(alike.decide("reward"))
    tolerant = alike.decide("reward", tolerance=5)
    assert tolerant.stop
    assert 0 < tolerant.loss <= 5
    assert "worse than the best arm" in tolerant.sentence


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"error": 0}, "The error is 0; it must be above 0 and below 1."),
        ({"tolerance": -1}, "The tolerance is -1; it must be a number from 0 on"),
        ({"tolerance": "5"}, "The tolerance is '5'"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], said: str) -> None:
    """Error rates and tolerances that are none."""
    log = censored_log(np.random.default_rng(1), plays=5)
    with pytest.raises(InputError) as caught:
        log.decide("reward", **settings)  # type: ignore[arg-type]  # that is the point
    assert str(caught.value).startswith(said)


def test_one_arm_is_no_choice() -> None:
    """There is nothing to decide between one arm."""
    with pytest.raises(InputError, match="nothing to decide"):
        tarry.Log.of(["a"], [1], finished=True, max_delay=2).decide("cost")


def coins() -> Problem:
    """Two arms that are easily told apart, some of whose plays take long."""
    laws = [([0, 40], [0.8, 0.2]), ([0, 40], [0.2, 0.8])]
    return tarry.problems.from_pmf(laws, max_delay=40)


def test_identification_finds_the_best_arm() -> None:
    """The rule stops in the simulator with the right arm, for both payoffs and any policy."""
    reward = tarry.identify(coins(), payoff="reward", seed=2)
    assert (reward.stop, reward.arm, reward.lost) == (True, 1, 0.0)
    assert "chose arm 1" in repr(reward)
    cost = tarry.identify(coins(), payoff="cost", policy=tarry.SE(), most=2000, seed=2)
    assert (cost.stop, cost.arm) == (True, 0)
    short = tarry.identify(coins(), payoff="cost", most=10)
    assert (short.stop, short.plays) == (False, 10)


def test_log_of_a_run_knows_what_was_known_then() -> None:
    """Plays that are out are unfinished at their age, and those that are D old are complete."""
    run = tarry.play(tarry.Uniform(), coins(), payoff="cost", horizon=200, seed=1)
    log = log_of_run(coins(), run, 100)
    ages = 101 - np.arange(1, 101)
    back = run.delays[:100] < ages
    assert (log.times[back] == run.delays[:100][back]).all()
    assert (log.times[~back] == np.minimum(ages, 40)[~back]).all()
    assert (log.finished == (back | (ages >= 40))).all()


def test_plan_is_repeatable_and_says_what_is_enough() -> None:
    """The same seed gives the same plan; a log does for a world; too few plays are told."""
    asked = {"payoff": "reward", "runs": 4, "likely": 0.75}
    plan = tarry.plan(coins(), **asked, seed=3)  # type: ignore[arg-type]  # a dict of settings
    assert plan.plays.tolist() == tarry.plan(coins(), **asked, seed=3).plays.tolist()  # type: ignore[arg-type]  # the same
    assert plan.needed == plan.plays[3 - 1] or plan.needed == plan.plays[3]
    assert plan.wrong == 0
    assert "plays are enough with a probability of 75 %" in str(plan)
    log = tarry.Log.of(["a", "b"] * 40, [1, 0.25] * 40, finished=True, max_delay=2)
    assert math.isfinite(tarry.plan(log, payoff="cost", runs=1, tolerance=0.1).needed)
    with pytest.raises(InputError, match="The tolerance is -1;"):
        tarry.plan(log, payoff="cost", tolerance=-1)
    few = tarry.plan(coins(), payoff="cost", runs=2, most=8)
    assert "8 plays are not enough: 2 of 2 runs stayed open" in str(few)
    with pytest.raises(InputError, match="it must be a problem or a log"):
        tarry.plan("coins", payoff="cost")  # type: ignore[arg-type]  # that is the point
