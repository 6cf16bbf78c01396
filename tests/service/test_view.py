"""The numbers of a view: the same as elsewhere in tarry, and right."""

import time
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.special import betaincinv
from tests.live.postgres import new_name, opened
from tests.service.browser import until
from tests.service.states import BEGAN, PAGES, ROUTES, Life, answers, state, stays

import tarry
from tarry.live import Agent, ManualClock
from tarry.live.curve import DelayCurve
from tarry.service import how_sure
from tarry.service.alarms import above
from tarry.service.shares import MOST, OTHERS, Shares
from tarry.service.view import view
from tarry.service.words import duration


@pytest.fixture(scope="module")
def pages() -> Life:
    """An agent that has learned a good deal, with many plays out."""
    return Life(PAGES, payoff="reward", max_delay=600.0).live(1500, 2.0)


def arms_of(doc: dict[str, Any]) -> dict[str, Any]:
    """The arms of a view, by name."""
    return {arm["name"]: arm for arm in doc["arms"]}


def test_counts_are_those_of_explain(pages: Life) -> None:
    """And means, up to the weight of the one play with which `explain` begins."""
    arms, report = arms_of(pages.view("pages")), pages.agent.explain()
    for name, row in report.items():
        assert arms[name]["mean"] == pytest.approx(row.mean, abs=600.0 / (row.returned + 1))
        assert arms[name]["plays"] == row.plays
        assert arms[name]["ended"] == row.returned + row.closed
        assert (arms[name]["out"], arms[name]["share"]) == (row.pending, row.share)
        assert (arms[name]["oldest"] or 0.0) == pytest.approx(row.oldest_pending or 0.0, rel=1e-4)


def test_limits_curves_and_chances_are_those_of_the_history(pages: Life) -> None:
    """Without random numbers, and in bins: up to a small part of the width of the interval."""
    doc = pages.view("pages")
    log = pages.agent.history()
    means, curves, best = log.means(), log.curves(), log.best("reward")
    for name, arm in arms_of(doc).items():
        exact = means[name]
        width = exact.high - exact.low
        assert arm["low"] == pytest.approx(exact.low, abs=0.12 * width)
        assert arm["high"] == pytest.approx(exact.high, abs=0.12 * width)
        assert arm["best"] == pytest.approx(best[name], abs=0.05)
        for t, alive in list(zip(arm["curve"]["time"], arm["curve"]["alive"], strict=True))[::6]:
            assert alive == pytest.approx(curves[name].at(t), abs=0.04)
    assert doc["leader"] == "essay"


def test_intervals_hold_at_small_counts() -> None:
    """Of 95 % intervals at least 92 % hold the truth, with plays given up too."""
    rng = np.random.default_rng(11)

    def exponential(count: int) -> Any:
        return rng.exponential(100.0, count)

    def two_points(count: int) -> Any:
        return np.where(rng.random(count) < 0.1, 600.0, 0.0)

    for law, truth in ((exponential, 100.0 * (1.0 - np.exp(-6.0))), (two_points, 60.0)):
        for count in (5, 30, 200):
            curves = [DelayCurve(600_000_000) for _ in range(300)]
            for curve in curves:
                times, given_up = law(count), rng.random(count) * 1200.0
                over = np.minimum(times, 600.0) <= given_up
                curve.came_back((np.minimum(times[over], 600.0) * 1e6).astype(np.int64))
                curve.cancelled((given_up[~over] * 1e6).astype(np.int64))
            fields = (np.array([getattr(c, f) for c in curves]) for f in ("events", "sums", "cut"))
            limits = how_sure.mean_limits(how_sure.bins_of(np.array(curves[0].edges), *fields))
            inside = (limits.low * 600.0 <= truth) & (truth <= limits.high * 600.0)
            assert inside.mean() > 0.92, (law, count)


def test_quantiles_are_those_of_the_beta_law() -> None:
    """By halving as by SciPy."""
    a, b = np.array([0.3, 2.0, 50.0, 4000.0]), np.array([3.0, 2.0, 400.0, 90_000.0])
    mean = a / (a + b)
    law = how_sure.Moments(mean, mean * (1 - mean) / (a + b + 1))
    for chance in (0.025, 0.975):
        exact = betaincinv(a, b, chance)
        off = np.abs(how_sure.quantile(law, chance) - exact)
        assert (off < 1e-3 * np.sqrt(law.variance)).all()


def test_chances_of_two_arms() -> None:
    """As drawn; and mirrored where short delays are good."""
    law = how_sure.Moments(np.array([0.30, 0.33, 0.1]), np.array([0.03, 0.02, 0.01]) ** 2)
    found = how_sure.chances(law, reward=True)
    rng = np.random.default_rng(3)
    a, b, _ = how_sure.shape_of(law)
    drawn = rng.beta(a, b, (200_000, 3)).argmax(axis=1)
    assert found == pytest.approx(np.bincount(drawn, minlength=3) / 200_000, abs=0.01)
    assert how_sure.chances(law, reward=False)[2] == pytest.approx(1.0, abs=1e-6)
    assert how_sure.chances(how_sure.Moments(law.mean[:1], law.variance[:1]), reward=True) == [1.0]


def test_what_learning_cost_is_in_its_interval() -> None:
    """In 18 of 20 lives at least; the means are known here."""
    hold = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        laws = {"a": 100.0, "b": 60.0}
        clock = ManualClock(BEGAN)
        agent = Agent(arms=list(laws), payoff="reward", max_delay=1000.0, seed=seed, clock=clock)
        for _ in range(150):
            play = agent.ask()
            clock.advance(1e-3)
            agent.tell(play, rng.exponential(laws[play.arm]))
        doc = view(agent, Shares())
        cost = doc["cost_of_learning"]
        hold += cost["low"] <= 40.0 * arms_of(doc)["b"]["plays"] <= cost["high"]
        assert cost["low"] <= cost["value"] <= cost["high"]
    assert hold >= 18


def test_leases() -> None:
    """Ages are what was reported; a lease that ran out unnoticed has ended, or is void."""
    clock = ManualClock(BEGAN)
    arms = ["a", "b"]
    agent = Agent(arms=arms, payoff="reward", max_delay=60.0, lease=9.0, seed=1, clock=clock)
    reported, unheard, vanished = agent.ask(), agent.ask(), agent.ask()
    agent.alive(reported, 2.0)
    agent.alive(vanished, 4.0)
    clock.advance(8.0)
    agent.alive(reported, 7.5)
    clock.advance(2.0)
    doc = view(agent, Shares())
    assert (doc["out"], doc["void"], doc["vanished"], doc["ended"]) == (1, 1, 1, 1)
    of = arms_of(doc)
    assert of[reported.arm]["oldest"] == 7.5
    assert of[unheard.arm]["void"] == 1
    assert of[vanished.arm]["vanished"] == 1
    assert doc["lease"] == 9.0
    for name, row in agent.explain().items():
        assert of[name]["ended"] == row.returned + row.closed
        if of[name]["mean"] is not None:
            assert of[name]["mean"] == pytest.approx(row.mean, abs=60.0 / (row.plays + 1))


def has_asked(agent: Agent, count: int) -> bool:
    """Whether it knows of so many plays."""
    return agent.counts.asked == count


@pytest.mark.xdist_group("postgres")
def test_an_agent_of_many_processes() -> None:
    """Each of them shows the plays of all."""
    name = new_name()
    with opened(name) as one, opened(name) as two:
        for agent in (one, two):
            for _ in range(20):
                agent.tell(agent.ask(), 0.1)
        two.ask()
        for agent in (one, two):
            until(partial(has_asked, agent, 41))
            doc = view(agent, Shares())
            assert (doc["plays"], doc["ended"], doc["out"]) == (41, 40, 1)
            assert doc["store"]["text"] == "All facts are safe in PostgreSQL."
            assert sum(doc["shares"]["arms"][arm][0] for arm in "ab") == 1.0


def test_void_plays_of_one_arm_are_an_alarm() -> None:
    """Its script is broken, say."""
    clock = ManualClock(BEGAN)
    agent = Agent(
        tarry.Uniform(), arms=["a", "b"], payoff="reward", max_delay=9.0, lease=3.0, clock=clock
    )
    for _ in range(60):
        play = agent.ask()
        if play.arm == "b":
            agent.tell(play, 1.0)
    clock.advance(20.0)
    doc = view(agent, Shares())
    assert doc["alarms"][0]["arm"] is None
    assert "100% of a" in doc["alarms"][0]["text"]
    assert "the reporting needs a look." in doc["sentence"]


@pytest.mark.xdist_group("browser")  # where the states are, that take long to make
def test_states_have_what_they_are_for() -> None:
    """Sentences and alarms of the views on which the dashboard is tried."""
    assert state("new")["sentences"] == ["Nobody has asked yet; 5 arms are ready."]
    assert state("early")["sentence"].startswith("It is too early to tell")
    assert state("settled")["sentence"].startswith("essay lasts longest, 10")
    troubled = arms_of(state("troubled"))
    assert "failed" in troubled["fra"]["alarm"]
    assert "been out for more than" in troubled["ams"]["alarm"]
    assert (troubled["nyc"]["state"], troubled["lon"]["alarm"]) == ("paused", None)
    assert state("troubled")["now"] - troubled["nyc"]["since"] == pytest.approx(1291.4, abs=30.0)
    many = state("thousand")
    assert sum(arm["curve"] is not None for arm in many["arms"]) == 8
    assert set(many["shares"]["arms"]) - set(arms_of(many)) == {OTHERS}
    assert sum(arm["best"] or 0.0 for arm in many["arms"]) == pytest.approx(1.0, abs=0.02)


def test_an_arm_nobody_has_heard_of_may_be_the_best() -> None:
    """After the first answer nothing is sure."""
    agent = Agent(arms=["a", "b"], payoff="reward", max_delay=100.0, seed=1)
    assert view(agent, Shares())["sure"] is None
    play = agent.ask()
    agent.tell(play, 12.0)
    doc = view(agent, Shares())
    assert doc["leader"] == play.arm
    assert 0.1 < doc["sure"] < 0.5
    assert [arm["best"] for arm in doc["arms"] if arm["name"] != play.arm] == [None]


def test_more_sentences() -> None:
    """Nothing back yet, one arm, arms that are alike, arms that are probably apart."""
    one = Life({"only": stays(60.0)}, payoff="reward", max_delay=600.0)
    assert (
        one.live(1, 0.001).view("x")["sentence"] == "1 play is out and nothing has come back yet."
    )
    assert "no other arm to compare" in one.live(50, 60.0).view("x")["sentence"]
    same = Life({"a": answers(0.05), "b": answers(0.05)}, payoff="cost", max_delay=2.0)
    assert "are about equal" in same.live(6000, 0.1).view("x")["sentence"]
    removed = Life(ROUTES, payoff="cost", max_delay=2.0).live(200, 0.1)
    removed.agent.remove_arm("nyc")
    doc = removed.view("x")
    assert doc["removed"]["arms"] == 1
    assert sum(arm["plays"] for arm in doc["arms"]) + doc["removed"]["plays"] == 200
    for name in ("fra", "ams", "lon"):
        removed.agent.pause_arm(name)
    assert "All arms are paused: nothing can be chosen." in removed.view("x")["sentence"]
    for name in ("fra", "ams", "lon"):
        removed.agent.remove_arm(name)
    assert removed.view("x")["sentence"] == "There is no arm to choose; add one to go on."


def test_arms_that_change_and_arms_that_are_out() -> None:
    """Under a policy that follows change, the present; under one that eliminates, who is out."""
    clock = ManualClock(BEGAN)
    setting: dict[str, Any] = {"payoff": "cost", "max_delay": 2.0, "clock": clock, "seed": 2}
    agent = Agent(tarry.RegimeThompson(), arms=["a", "b"], **setting)
    for k in range(400):
        play = agent.ask()
        clock.advance(1.0)
        agent.tell(play, (0.05 if k < 360 else 0.9) if play.arm == "a" else 0.3)
    doc, report = view(agent, Shares()), agent.explain()
    for name, arm in arms_of(doc).items():
        assert arm["mean"] == pytest.approx(report[name].mean, rel=1e-4)
        assert doc["now"] - arm["changed"]["since"] == pytest.approx(report[name].since, abs=0.1)
    assert "it changed about" in arms_of(doc)["a"]["alarm"]
    eliminating = Agent(tarry.SE(), arms=["a", "b"], horizon=4000, **setting)
    for _ in range(600):
        play = eliminating.ask()
        clock.advance(1.0)
        eliminating.tell(play, 0.01 if play.arm == "a" else 1.9)
    bad = arms_of(view(eliminating, Shares()))["b"]
    assert bad["state"] == "rested"
    assert bad["since"] == bad["last"]


def test_shares_over_a_long_life() -> None:
    """Pieces grow; the sums stay."""
    shares = Shares()
    names = ["a", "b", "c"]
    for hour in range(300):
        times = 3600.0 * hour + np.arange(40.0)
        shares.add(names, np.array([0, 1] * 20 if hour < 150 else [1] * 40), times)
    assert len(shares.counts) <= MOST
    assert shares.total == {"a": 3000, "b": 9000}
    picture = shares.picture(BEGAN, 3600.0 * 300 + BEGAN, ["a"])
    assert picture["arms"]["a"][0] == 0.5
    assert picture["arms"]["a"][-1] == 0.0
    assert picture["arms"][OTHERS][-1] == 1.0
    assert picture["time"] == sorted(picture["time"])
    assert shares.choose(list("abcdefghijklmnop")) == list("abcdefgh")
    assert shares.choose(list("ijklmnopabcdefgh"))[:8] == list("abcdefgh")


def test_bound_on_chances() -> None:
    """Never below the chance itself."""
    assert above(0, 10, 0.01) == 1.0
    assert above(3, 3, 0.01) == pytest.approx(1e-6)
    assert 0.000114 < above(4, 50, 0.01) < 0.05


def test_units() -> None:
    """Times as people say them."""
    said = [duration(x) for x in (2e-5, 0.0413, 3.2, 150.0, 400.0, 9000.0, 3e5)]
    assert said == ["20 µs", "41 ms", "3.2 s", "150 s", "6.7 min", "2.5 h", "3.5 d"]


def test_a_thousand_arms_once_per_second() -> None:
    """A view takes a fraction of a second, and holds up asks for far less."""
    rng = np.random.default_rng(1)
    laws = {f"arm {k}": stays(float(rng.uniform(20.0, 60.0))) for k in range(1000)}
    life = Life(laws, payoff="reward", max_delay=300.0).live(2000, 0.5)
    life.view("x")
    start = time.process_time()
    doc = life.view("x")
    assert time.process_time() - start < 1.0
    assert len(doc["arms"]) == 1000
