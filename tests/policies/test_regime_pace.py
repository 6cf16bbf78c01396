"""RegimeThompson at any pace: how long a regime is thought to last, and what sparse plays cost."""

import numpy as np
import pytest

import tarry
from tarry.plays import empty_plays
from tarry.policies.change.regimes import Regimes, no_regimes
from tarry.policies.protocol import Setting
from tarry.randomness import SELECT, new_random
from tarry.scenarios import Change, Hangs, LogNormal, Scenario, simulate

pytestmark = pytest.mark.xdist_group("survival")  # which is compiled once

D = 10


def regimes(least_plays: float) -> Regimes:
    """Two arms, of which nothing is known, and tau = 100 D."""
    return no_regimes(2, D, bins=4, most=12, change_every=1000.0, least_plays=least_plays, odds=1.0)


def test_sparse_plays_lengthen_the_time_between_changes() -> None:
    """At least 1000 times the mean time between two plays of any arms; never below 100 D."""
    found = regimes(1000.0)
    assert found.tau(5) == 1000.0
    found.begin_play(0, 5)
    assert found.tau(5) == 1000.0
    found.begin_play(1, 7)
    assert found.tau(7) == 1000.0
    assert found.tau(17) == pytest.approx(1000.0 * (17 - 5) / 2)


def test_a_given_time_is_taken_as_it_is() -> None:
    """However rare plays are."""
    found = regimes(0.0)
    found.begin_play(0, 5)
    assert found.tau(5_000_000) == 1000.0


def test_a_young_regime_is_thought_to_end_soon() -> None:
    """In five times its age or twice D, whichever is more; the first one of an arm in tau."""
    found = regimes(0.0)
    found.begin_play(0, 100)
    found.begin_play(0, 200)
    assert found.lasts(found.order[0], 1000.0, 300) == 1000.0
    assert found.lasts(found.order[1], 1000.0, 205) == 5 * 2 * D
    assert found.lasts(found.order[1], 1000.0, 250) == 5 * 50
    assert found.lasts(found.order[1], 1000.0, 900) == 1000.0


def test_short_regimes_are_remembered() -> None:
    """A regime of 250 in a tau of 1000 halves what is usual, one below twice D counts as that."""
    found = regimes(0.0)
    found.begin_play(0, 100)
    found.begin_play(0, 350)
    assert found.usual[found.order[0]] == 1.0
    assert found.usual[found.order[1]] == pytest.approx(0.5)
    assert found.usual_after(found.order[1], 1000.0, 360) == pytest.approx((0.5 * 0.02) ** 0.5)
    assert found.usual_after(found.order[0], 1000.0, 9000) == 1.0


def test_what_will_not_last_must_be_worth_it() -> None:
    """Where plays are rare: what is saved until it ends is 30 times what is risked."""
    found = regimes(0.0)
    found.begin_play(0, 100)
    found.begin_play(1, 350)
    found.begin_play(1, 400)  # one play in 100: 10 of them in tau
    assert found.is_worth(1.0, 0.4, 0.13, 400)
    assert not found.is_worth(1.0, 0.4, 0.14, 400)
    assert found.is_worth(0.1, 0.4, 0.013, 400)
    assert not found.is_worth(0.1, 0.4, 0.014, 400)
    for _ in range(1797):
        found.begin_play(1, 400)  # now 6 in 1: 6000 in tau
    assert found.is_worth(0.5, 0.0001, 1.0, 400)
    assert not found.is_worth(0.49, 0.0001, 1.0, 400)


def test_a_regime_that_goes_on_speaks_for_itself() -> None:
    """However short those before it were, it counts as long as it has lasted up to a play."""
    rng = new_random(5).of_play(1, SELECT)
    found = regimes(0.0)
    found.begin_play(0, 100)
    found.begin_play(0, 110)
    first, second = found.order[0], found.order[1]
    found.weight[first], found.weight[second] = 0.0, 1.0
    found.usual[second] = 0.02
    assert found.draw_regime(0, 0.0, 1, 510, rng) == (second, 0.02)  # it rests: who knows
    found.begin_play(0, 510)
    found.weight[second], found.weight[found.order[2]] = 1.0, 0.0
    assert found.draw_regime(0, 0.0, 1, 510, rng)[1] == pytest.approx(0.4)


def test_a_probe_must_be_affordable() -> None:
    """An arm far above the others is probed the less, the fewer plays were made since its last."""
    rule = tarry.RegimeThompson().start(Setting(arms=2, max_delay=D, horizon=0, reward=False))
    rule.levels[0], rule.levels[1] = 0.1, 0.9
    assert rule.thinned(0, 0.1) == 0.5
    rule.regimes.begin_play(1, 1)
    assert rule.thinned(1, 0.1) == 0.0
    found = []
    for now in range(2, 202):
        rule.regimes.begin_play(0, now)
        found.append(rule.thinned(1, 0.1))
    assert found[39] == pytest.approx(0.5 * (1 / 9) ** 0.35 / 2)  # 0.1 * 40 plays * 0.1 / 0.8
    assert found[-1] == pytest.approx(0.5 * (1 / 9) ** 0.35)


def test_plays_every_ten_minutes_are_not_thrown_away() -> None:
    """A time-out of 2 s and a play every ten minutes: arms are still told apart."""
    laws = (LogNormal(0.05), LogNormal(0.08), LogNormal(0.12))
    calm = Scenario("sparse", laws, rate=1 / 600, seconds=600.0 * 1500, timeout=2.0)
    chosen = simulate(calm, tarry.RegimeThompson(), seed=1).backends
    assert np.mean(chosen[500:] == 0) > 0.85


@pytest.mark.parametrize("every", [200, 1000])
def test_a_resting_arm_that_becomes_the_best_is_found(every: int) -> None:
    """Nothing shows it but a probe; who says that arms change gets one."""
    before = tarry.problems.deterministic([50, 100], max_delay=200)
    after = tarry.problems.deterministic([50, 0], max_delay=200)
    problem = tarry.problems.changing({1: before, 1000: after})
    for seed in range(10):
        policy = tarry.RegimeThompson(change_every=every)
        run = tarry.play(policy, problem, payoff="cost", horizon=20_000, seed=seed)
        assert run.regret[-1] < 1000  # of the 4750 of who never finds it


@pytest.mark.parametrize(("longest", "crowded"), [(D, False), (D - 1, True)])
def test_an_outage_is_no_crowding(longest: int, crowded: bool) -> None:
    """The more plays are out the more of them last `longest`; costs of D say nothing about load."""
    rule = tarry.RegimeThompson(load=True).start(Setting(2, D, 1000, reward=False))
    plays = empty_plays(D)
    rng = new_random(5)
    for number in range(200):
        plays.arm[0], plays.ahead[0] = 0, number % 20
        plays.delay[0] = longest if number % 20 >= 10 else 1
        rule.returned(plays, 0, number, rng)
    assert (rule.crowding.factor(0, 30) > 1.5) == crowded


def test_a_server_that_hung_often_is_used_again() -> None:
    """It hung for 100 plays of every 200, ten times, and is ten times as quick as the other one.

    With costs of D in what is learnt about load, a third of the plays stayed with the other one for
    11 100 plays here, since nothing was sent while a play was out.
    """
    good, other = LogNormal(0.02), LogNormal(0.2)
    changes = [
        change
        for k in range(10)
        for change in (Change(8.0 * k + 4, 0, Hangs()), Change(8.0 * k + 8, 0, good))
    ]
    scenario = Scenario(
        "often", (good, other), changes, rate=25.0, seconds=80.0 + 200.0, timeout=2.0
    )
    found = simulate(scenario, tarry.RegimeThompson(), 60_142)
    assert (found.backends[found.times > 80.0 + 160.0] == 0).mean() > 0.95
