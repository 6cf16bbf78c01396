"""What an agent says of a request: intervals that hold the truth, and shrink with plays."""

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tarry
from tarry.arrays import arrays_of
from tarry.live import Agent, ManualClock
from tarry.live.request_means import MOST_OUT, contexts_of, scaled, still_out
from tarry.plays import empty_plays

MOST = 10.0
KINDS = {"x": 6, "y": 3, "z": 1}  # how often each comes
Draw = Callable[[random.Random], float]


def law_of(name: str, mean: float, share: float) -> Draw:
    """A law of delays, in seconds; those above MOST are never answered."""
    if name == "fixed":
        return lambda rng: mean
    if name == "log-normal":
        return lambda rng: mean * math.exp(rng.gauss(0.0, 0.8) - 0.32)
    if name == "Weibull":
        shape = 0.7 if share < 0.5 else 2.0
        return lambda rng: rng.weibullvariate(mean / math.gamma(1 + 1 / shape), shape)
    return lambda rng: MOST if rng.random() < share else 0.0


def truth_of(law: Draw) -> float:
    """The mean delay, at most MOST each."""
    rng = random.Random(5)  # a simulation
    return float(np.mean([min(law(rng), MOST) for _ in range(20_000)]))


def laws_of(name: str, seed: int) -> dict[tuple[str, str], Draw]:
    """One for each kind of request and arm."""
    rng = random.Random(1000 + seed)  # a simulation
    return {
        (kind, arm): law_of(name, math.exp(rng.uniform(-0.9, 1.8)), rng.uniform(0.1, 0.9))
        for kind in KINDS
        for arm in "ab"
    }


def played(laws: dict[tuple[str, str], Draw], plays: int, seed: int, payoff: Any) -> Agent:
    """An agent that has played for requests of three kinds."""
    clock, rng = ManualClock(), random.Random(seed)  # a simulation
    told: dict[str, Any] = {"payoff": payoff, "max_delay": MOST, "clock": clock, "seed": seed}
    agent = Agent(arms=["a", "b"], features={"kind": list(KINDS)}, **told)
    for _ in range(plays):
        kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
        play = agent.ask(context={"kind": kind})
        delay = laws[kind, play.arm](rng)
        clock.advance(min(delay, MOST))
        if delay < MOST:
            agent.tell(play)
    return agent


@pytest.mark.parametrize("payoff", ["cost", "reward"])
@pytest.mark.parametrize("name", ["fixed", "log-normal", "Weibull", "0 or D"])
def test_intervals_hold_the_truth(name: str, payoff: Any) -> None:
    """Whatever the law: 95 %, but for three standard errors; by the curves alone fixed: 75 %."""
    held = []
    for seed in range(8):
        laws = laws_of(name, seed)
        agent = played(laws, 300, seed, payoff)
        for kind in KINDS:
            report = agent.explain(context={"kind": kind})
            for arm in "ab":
                row, truth = report[arm], truth_of(laws[kind, arm])
                held.append(row.low - 1e-6 <= truth <= row.high + 1e-6)
                assert 0.0 <= row.low <= row.mean <= row.high <= MOST
    assert np.mean(held) >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / len(held))


def test_plays_still_out_are_not_forgotten() -> None:
    """Where most plays are out, what came back is short: the means are not."""
    clock, rng = ManualClock(), random.Random(1)  # a simulation
    told: dict[str, Any] = {"payoff": "reward", "max_delay": 100.0, "clock": clock, "seed": 1}
    agent = Agent(arms=["a", "b"], features={"kind": ["x", "y"], "n": float}, **told)
    due: list[tuple[float, int]] = []
    for number in range(700):
        play = agent.ask(context={"kind": rng.choice("xy"), "n": rng.gauss(0, 1)})
        due.append((number / 10 + rng.expovariate(1 / 30), play.id))
        clock.advance(0.1)
        for one in [one for one in due if one[0] <= (number + 1) / 10]:
            agent.tell(one[1])
            due.remove(one)
    assert len(due) > 200
    for row in agent.explain(context={"kind": "x"}).arms:
        truth = 30 * (1 - math.exp(-100 / 30))
        assert row.low <= truth <= row.high
        assert abs(row.mean - truth) < 15


def one_arm(payoff: Any = "cost", **features: Any) -> tuple[ManualClock, Agent]:
    """An agent with one arm."""
    clock = ManualClock()
    told: dict[str, Any] = {"payoff": payoff, "max_delay": MOST, "clock": clock, "seed": 1}
    return clock, Agent(arms=["a"], features=features or {"x": ["u", "v"]}, **told)


def agree(agent: Agent, context: dict[str, Any], truth: float | None = None) -> None:
    """With one kind of request, what is said of it is what is said of all."""
    own, plain = agent.explain(context=context)["a"], agent.explain()["a"]
    assert own.low <= plain.mean <= own.high
    assert plain.low <= own.mean <= plain.high
    assert 0.0 <= own.low <= own.mean <= own.high <= MOST
    if truth is not None:
        assert own.low <= truth <= own.high


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_what_has_passed_counts_before_anybody_asks(payoff: Any) -> None:
    """Plays that have reached D since the last ask are D old, whether or not the rule knows."""
    clock, agent = one_arm(payoff)
    for _ in range(100):
        agent.ask(context={"x": "u"})
        clock.advance(0.05)
    clock.advance(20.0)
    before = agent.explain(context={"x": "u"})["a"]
    agree(agent, {"x": "u"}, MOST)
    agent.ask(context={"x": "u"})
    after = agent.explain(context={"x": "u"})["a"]
    assert after.mean == pytest.approx(before.mean, rel=0.01)
    assert before.mean > 9.5


@pytest.mark.parametrize("payoff", ["cost", "reward"])
@pytest.mark.parametrize("answer", [None, 1.0, 5.2, 8.0, 9.5])
def test_cancelled_plays_last_as_long_as_they_did(answer: float | None, payoff: Any) -> None:
    """Of 200 plays all but ten are cancelled at 9 s of 10."""
    clock, agent = one_arm(payoff)
    for number in range(200):
        play = agent.ask(context={"x": "u"})
        if answer is not None and number % 20 == 0:
            clock.advance(answer)
            agent.tell(play)
        else:
            clock.advance(9.0)
            agent.cancel(play)
    own, plain = agent.explain(context={"x": "u"})["a"], agent.explain()["a"]
    assert own.low <= plain.mean <= own.high
    assert own.mean == pytest.approx(plain.mean, rel=0.02)
    ended = 9.0 if answer is None else answer
    least = (10 * ended + 190 * max(9.0, ended)) / 200
    most = (10 * ended + 190 * MOST) / 200
    assert own.low <= least
    assert own.high >= most


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_beyond_the_oldest_age_everything_is_possible(payoff: Any) -> None:
    """Nothing is back: a mean may be what all have lasted so far, or D."""
    clock, agent = one_arm(payoff, x=float)
    for _ in range(12):
        agent.ask(context={"x": 1.0})
        clock.advance(0.001)
    agree(agent, {"x": 1.0}, 5.0)
    clock, agent = one_arm(payoff, x=float)
    for number in range(200):
        agent.ask(context={"x": number % 7})
    clock.advance(2.0)
    agree(agent, {"x": 1.0}, 2.05)
    agree(agent, {"x": 1.0}, 9.95)


@pytest.mark.parametrize("payoff", ["cost", "reward"])
@pytest.mark.parametrize("share", [0, 2, 5])
def test_one_kind_of_request_is_explained_as_all(share: int, payoff: Any) -> None:
    """Whether all is back, or a half or a fifth is still out."""
    rng = random.Random(3)  # a simulation
    clock, agent = one_arm(payoff)
    for number in range(200):
        play = agent.ask(context={"x": "u"})
        clock.advance(rng.expovariate(20.0))
        if not share or number % share:
            agent.tell(play)
    agree(agent, {"x": "u"})


def test_looking_changes_nothing() -> None:
    """No number of a rule and no choice, with plays that the rule has not heard of."""
    clock, looked = one_arm()
    other_clock, other = one_arm()
    for agent, own in ((looked, clock), (other, other_clock)):
        for number in range(60):
            play = agent.ask(context={"x": "uv"[number % 2]})
            own.advance(0.3)
            if number % 3:
                agent.tell(play)
        own.advance(4.0)
    looked.explain(context={"x": "v"})
    pairs = zip(*(arrays_of(a._core.open.rule) for a in (looked, other)), strict=True)
    for (path, mine, _), (_, theirs, _) in pairs:
        assert np.array_equal(np.asarray(mine), np.asarray(theirs)), path


def test_of_many_plays_out_some_stand_for_all() -> None:
    """The number that is looked at is limited; what they tell is as much as all would."""
    clock, agent = one_arm()
    for _ in range(1000):
        agent.ask(context={"x": "u"})
        clock.advance(0.005)
    core = agent._core
    out = still_out(core, core.arms["a"], 5_000_000)
    assert len(out.age) == len(out.contexts) == MOST_OUT
    assert out.times * MOST_OUT == 1000
    assert out.oldest == max(out.age) == 5_000_000
    agree(agent, {"x": "u"})


def test_more_plays_of_fixed_delays_help() -> None:
    """What is said of exactly 2 s and 2.6 s, with kinds that differ, comes nearer."""
    laws = {
        (k, a): law_of("fixed", n * (1.0 if a == "a" else 1.3), 0.0)
        for k, n in zip(KINDS, (2.0, 0.3, 7.0), strict=True)
        for a in "ab"
    }
    few, many = (
        played(laws, plays, 3, "cost").explain(context={"kind": "x"})["a"] for plays in (60, 900)
    )
    assert few.low <= 2.0 <= few.high
    assert many.low <= 2.0 <= many.high
    assert abs(many.mean - 2.0) < 0.1
    assert 0.19 < many.high - many.low < few.high - few.low


def test_features_are_scaled_as_the_rule_does() -> None:
    """Missing and huge ones too."""
    rule = played(laws_of("log-normal", 1), 150, 1, "cost")._core.open.rule
    table = empty_plays(3, features=3)
    table.context[:3] = [[0.0, 1.0, 0.0], [math.nan, 0.0, 1e200], [40.0, -7.0, 1.0]]
    for row, z in enumerate(scaled(rule, contexts_of(table, np.arange(3)))):
        rule.scaler.look(table, row)
        assert z == pytest.approx(np.asarray(rule.scaler.z), rel=1e-12)


@pytest.mark.parametrize("policy", [None, tarry.SurvivalRegression(half_life=50)], ids=str)
def test_any_numbers_can_be_explained(policy: Any) -> None:
    """Values that grow by orders of magnitude, are missing, constant, or as large as can be."""
    clock, rng = ManualClock(), random.Random(2)  # a simulation
    told: dict[str, Any] = {"payoff": "cost", "max_delay": 2.0, "clock": clock, "seed": 1}
    agent = Agent(policy, arms=["a", "b"], features={"n": float, "one": float, "m": float}, **told)
    for number in range(120):
        huge = (-10.0) ** rng.randint(-300, 150)
        grown = None if number % 7 == 0 else 10.0 ** (number * 5 / 4)
        play = agent.ask(context={"n": huge, "one": 3.0, "m": grown})
        clock.advance(rng.random())
        agent.tell(play)
    for path, numbers, _ in arrays_of(agent._core.open.rule):
        assert np.isfinite(np.asarray(numbers)).all(), path
    for context in ({"n": 1e150, "m": -1e150}, {}, {"one": -5e-324}):
        for row in agent.explain(context=context).arms:
            assert 0.0 <= row.low <= row.mean <= row.high <= 2.0


def test_no_arm_is_called_the_best_of_all_requests() -> None:
    """An arm that serves the quick requests is not better; for one request arms do compare."""
    laws = {(kind, arm): law_of("fixed", 1.0 if kind == "x" else 8.0, 0.0) for kind in KINDS
            for arm in "ab"}  # fmt: skip
    agent = played(laws, 120, 1, "cost")
    report = agent.explain()
    for row in report.arms:
        assert "requests it was chosen for" in row.why
    assert math.isnan(report.probing)
    assert report.by_request
    told = agent.explain(context={"kind": "x"})
    assert not any("chosen for" in row.why for row in told.arms)
    plain = Agent(arms=["a", "b"], payoff="cost", max_delay=1.0)
    assert plain.explain().probing == 0.0


def test_a_reopened_agent_explains_alike(tmp_path: Path) -> None:
    """What explanations go by is kept with all else, plays that are out too."""
    clock, rng = ManualClock(), random.Random(2)  # a simulation
    told: dict[str, Any] = {"payoff": "cost", "max_delay": MOST, "clock": clock}
    told |= {"path": tmp_path / "a.db", "durability": "normal", "in_flight": "keep"}
    with Agent(arms=["a", "b"], features={"n": float}, seed=1, **told) as agent:
        for number in range(80):
            play = agent.ask(context={"n": rng.gauss(0, 1)})
            clock.advance(rng.random())
            if number % 5:
                agent.tell(play)
        before = agent.explain(context={"n": 0.5}).arms
    with Agent(**told) as agent:
        assert agent.explain(context={"n": 0.5}).arms == before


def test_a_value_other_than_the_only_one_so_far_is_unknown() -> None:
    """As one never seen among several is: nothing can be said of such requests."""
    clock = ManualClock()
    features = {"k": ["x", "y"], "size": tarry.numeric(log=True), "hour": tarry.cyclic(24)}
    agent = Agent(arms=["a"], payoff="cost", max_delay=10.0, seed=0, clock=clock, features=features)
    usual = {"k": "x", "size": 1.0}
    for _ in range(60):
        play = agent.ask(context=usual)
        clock.advance(1.0)
        agent.tell(play)
    known = agent.explain(context=usual)["a"]
    assert 0.5 < known.low <= known.mean <= known.high < 2.0
    for other in ({"k": "y"}, {"size": 1000.0}, {"hour": 3.0}):
        row = agent.explain(context=usual | other)["a"]
        assert (row.low, row.high) == (0.0, 10.0)
        assert row.why.startswith("little is known, hardly a play")


def test_a_paused_arm_is_not_explained_for_a_request() -> None:
    """Its evidence waits apart; resumed, it is explained as before."""
    clock = ManualClock()
    agent = Agent(
        arms=["a", "b"],
        payoff="cost",
        max_delay=10.0,
        seed=0,
        clock=clock,
        features={"k": ["x", "y"]},
    )
    for number in range(80):
        kind = "xy"[number % 2]
        play = agent.ask(context={"k": kind})
        clock.advance(1.0)
        agent.tell(play, 1.0 if kind == "x" else 8.0)
    before = agent.explain(context={"k": "x"})["a"]
    agent.pause_arm("a")
    paused = agent.explain(context={"k": "x"})["a"]
    assert (paused.low, paused.high) == (0.0, 10.0)
    assert paused.why.startswith("paused")
    agent.resume_arm("a")
    assert agent.explain(context={"k": "x"})["a"] == before


def test_an_arm_that_is_avoided_for_some_numbers_is_not_known_there() -> None:
    """A line goes on where nothing was tried: intervals missed the mean of such requests."""
    held = little = 0
    for seed in range(4):
        rng, clock = random.Random(seed), ManualClock()
        agent = Agent(
            arms=["a", "b"],
            payoff="cost",
            max_delay=MOST,
            seed=seed,
            clock=clock,
            features={"x": float},
        )
        for _ in range(400):
            x = rng.gauss(0.0, 1.0)
            play = agent.ask(context={"x": x})
            clock.advance(0.01)
            scale = math.exp(x if play.arm == "a" else -x)
            agent.tell(play, min(rng.expovariate(1.0 / scale), MOST))
        for x in (2.0, 3.0):
            row, scale = agent.explain(context={"x": x})["a"], math.exp(x)
            held += row.low <= scale * (1.0 - math.exp(-MOST / scale)) <= row.high
            little += row.why.startswith("little is known")
        row = agent.explain(context={"x": -1.0})["a"]
        assert not row.why.startswith("little is known")
        assert row.high - row.low < 0.5
    assert held == little == 8


def test_no_more_plays_are_alike_than_there_are() -> None:
    """What the matrix of requests has in advance is no play."""
    clock = ManualClock()
    agent = Agent(
        arms=["a", "b"],
        payoff="cost",
        max_delay=60.0,
        seed=1,
        clock=clock,
        features={"k": ["x", "y"]},
    )
    for _ in range(6):
        play = agent.ask(context={"k": "x"})
        clock.advance(1.0)
        agent.tell(play, 1.0)
    for row in agent.explain(context={"k": "x"}).arms:
        assert row.plays == 3
        assert row.why.startswith("little is known, about 3 plays for such requests")
