"""Contexts in live use: features become numbers, contexts are facts, in every store."""

import math
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tarry
from tarry.errors import ConflictError, InputError, JournalError
from tarry.live import Agent, ManualClock
from tarry.live.features import Features, features_from

FEATURES: dict[str, Any] = {
    "device": ["phone", "desktop"],
    "size": tarry.numeric(log=True),
    "hour": tarry.cyclic(24),
}
GIVEN: dict[str, Any] = {"payoff": "cost", "max_delay": 2.0}


def drive(agent: Agent, clock: ManualClock, plays: int, seed: int) -> list[tuple[str, str]]:
    """Requests of which phones are quick with "a" and desktops with "b"; device and arm."""
    rng = random.Random(seed)  # a simulation
    found = []
    for _ in range(plays):
        device = rng.choice(["phone", "desktop"])
        context = {"device": device, "size": rng.lognormvariate(0, 1), "hour": 24 * rng.random()}
        play = agent.ask(context=context)
        quick = (play.arm == "a") == (device == "phone")
        clock.advance((0.05 if quick else 0.4) * rng.random())
        if rng.random() < 0.9:
            agent.tell(play)
        found.append((device, play.arm))
    return found


def arrays(agent: Agent) -> dict[str, list[float]]:
    """All arrays of the rule."""
    from tarry.arrays import arrays_of

    rule = agent._core.open.rule
    return {
        path: np.asarray(a).tolist() for path, a, role in arrays_of(rule) if role and role.evidence
    }


def test_values_become_numbers() -> None:
    """One-hot texts, logarithms, squares, angles; NaN for what is missing or unknown."""
    features = Features({**FEATURES, "age": tarry.numeric(curve=True), "count": int})
    numbers, missing, unknown = features.numbers(
        features.checked({"device": "phone", "size": math.e, "hour": 6, "age": 3, "count": 2})
    )
    assert numbers == pytest.approx([1, 0, 1, 1, 0, 3, 9, 2])
    assert (missing, unknown) == (0, 0)
    numbers, missing, unknown = features.numbers(features.checked({"device": "tv", "size": -1}))
    assert all(math.isnan(x) for x in numbers)
    assert (missing, unknown) == (3, 2)
    features = Features({**FEATURES, "age": tarry.numeric(missing=-9999), "count": int})
    numbers, missing, unknown = features.numbers(features.checked({"age": -9999, "count": -9999}))
    assert math.isnan(numbers[-2])
    assert (numbers[-1], missing, unknown) == (-9999, 4, 0)
    again = features_from(features.described())
    assert again is not None
    assert again.columns == features.columns
    assert again.kinds == features.kinds


@pytest.mark.parametrize(
    "nothing", [None, math.nan, np.float64("nan"), pd.NA, pd.NaT, Decimal("nan")]
)
def test_what_data_frames_have_for_a_missing_value(nothing: Any) -> None:
    """Counts as missing, where a text belongs and where a number does."""
    features = Features(FEATURES)
    assert features.checked({"device": nothing, "size": nothing, "hour": nothing}) == {}


@pytest.mark.parametrize("wrong", [3.5, True, ["phone"], np.zeros(2), b"phone", Decimal("snan")])
def test_what_is_no_text_is_refused(wrong: Any) -> None:
    """With the value in the sentence."""
    with pytest.raises(InputError, match="it must be a text, or None"):
        Features(FEATURES).checked({"device": wrong})


@pytest.mark.parametrize("wrong", [True, np.True_, "3", [3], 1j, np.ones(1)])
def test_what_is_no_number_is_refused(wrong: Any) -> None:
    """In a context, and as the number that stands for a missing one."""
    with pytest.raises(InputError, match="it must be a number, or None"):
        Features(FEATURES).checked({"size": wrong})
    with pytest.raises(InputError, match=r"missing is .*; it must be a number, or None"):
        tarry.numeric(missing=wrong)


def test_an_agent_learns_what_a_request_wants() -> None:
    """Most late requests get the arm that is quick for their device."""
    clock = ManualClock()
    agent = Agent(arms=["a", "b"], seed=1, clock=clock, features=FEATURES, **GIVEN)
    assert agent.policy == tarry.SurvivalRegression()
    late = drive(agent, clock, 300, 1)[150:]
    assert np.mean([(arm == "a") == (device == "phone") for device, arm in late]) > 0.9


def test_contexts_survive_in_a_file(tmp_path: Path) -> None:
    """A reopened agent has the same evidence, goes on alike, and its history has the contexts."""
    clocks = ManualClock(), ManualClock()
    one = Agent(arms=["a", "b"], seed=3, clock=clocks[0], features=FEATURES, **GIVEN)
    path = tmp_path / "agent.db"
    told: dict[str, Any] = {**GIVEN, "path": path, "durability": "normal", "in_flight": "keep"}
    other = Agent(arms=["a", "b"], seed=3, clock=clocks[1], features=FEATURES, **told)
    assert drive(one, clocks[0], 60, 5) == drive(other, clocks[1], 60, 5)
    other.close()
    with Agent(clock=clocks[1], **told) as other:
        assert other.policy == tarry.SurvivalRegression()
        assert drive(one, clocks[0], 1, 7) == drive(other, clocks[1], 1, 7)  # both know the time
        assert arrays(other) == arrays(one)
        assert drive(one, clocks[0], 40, 6) == drive(other, clocks[1], 40, 6)
        assert arrays(other) == arrays(one)
        mine, theirs = one.history().context, other.history().context
        assert {"device", "size", "hour"} <= set(mine)
        assert mine["device"] == theirs["device"]
    words = (
        r"other features: with device \(one of phone, desktop\), size .*, hour \(cyclic, 24\), "
        r"but x \(a number, curve, missing -1\) is given; leave features out"
    )
    with pytest.raises(JournalError, match=words):
        Agent(clock=clocks[1], features={"x": tarry.numeric(curve=True, missing=-1)}, **told)


def test_features_in_another_order_are_the_same(tmp_path: Path) -> None:
    """The order in which the agent was made stays that of the columns, of old plays and new."""
    clock = ManualClock()
    told: dict[str, Any] = {**GIVEN, "path": tmp_path / "a.db", "durability": "normal"}
    told |= {"clock": clock, "arms": ["a", "b"], "in_flight": "keep"}
    memory = Agent(arms=["a", "b"], seed=3, clock=clock, features=FEATURES, **GIVEN)
    with Agent(seed=3, features=FEATURES, **told) as agent:
        for each in (agent, memory):
            each.ask({"device": "phone", "size": 3.0, "hour": 6})
    turned = dict(reversed(FEATURES.items()))
    assert list(turned) != list(FEATURES)
    with Agent(features=turned, **told) as agent:
        for each in (agent, memory):
            each.ask({"hour": 7, "size": 4.0, "device": "desktop"})
        assert agent._engine.features is not None
        assert agent._engine.features.columns == Features(FEATURES).columns
        assert list(agent.history().context)[-3:] == list(FEATURES)
        assert arrays(agent) == arrays(memory)
    with pytest.raises(JournalError, match="other features"):
        Agent(features={**turned, "hour": tarry.cyclic(12)}, **told)


def test_facts_alone_bring_contexts_back(tmp_path: Path) -> None:
    """Evidence folded from the facts of a file is that of the agent that wrote it."""
    clock = ManualClock()
    told: dict[str, Any] = {**GIVEN, "path": tmp_path / "a.db", "durability": "normal"}
    agent = Agent(arms=["a", "b"], seed=3, clock=clock, features=FEATURES, **told)
    drive(agent, clock, 50, 8)
    agent.backup(tmp_path / "b.db")  # without a snapshot of now
    told |= {"path": tmp_path / "b.db", "in_flight": "keep"}
    with Agent(clock=clock, **told) as copy:
        assert arrays(copy) == arrays(agent)
    agent.close()


def test_another_policy_learns_from_the_contexts_of_the_past(tmp_path: Path) -> None:
    """LinearThompson, opened on the file of another policy, expects what requests wanted."""
    learnt = []
    for seed in range(3):  # one of ten is not answered, so one past alone may mislead
        clock = ManualClock()
        path = tmp_path / f"{seed}.db"
        told: dict[str, Any] = {**GIVEN, "path": path, "durability": "normal"}
        with Agent(arms=["a", "b"], seed=seed, clock=clock, features=FEATURES, **told) as agent:
            drive(agent, clock, 300, 9)
        with Agent(tarry.LinearThompson(), clock=clock, **told) as agent:
            rule = agent._core.open.rule
            plays = tarry.plays.empty_plays(1, features=5)
            gains = []
            for device in ([1.0, 0.0], [0.0, 1.0]):
                plays.context[0] = [*device, math.nan, math.nan, math.nan]
                rule.scaler.look(plays, 0)
                a, b = (rule.ridge.value(arm, rule.scaler.z) for arm in range(2))
                gains.append(b - a)
            learnt.append(gains[0] - gains[1])  # in truth 0.175
    assert np.mean(learnt) > 0.05


def test_what_a_context_lacks_is_counted() -> None:
    """Missing and unknown values are no errors; a policy without contexts takes them as well."""
    agent = Agent(tarry.BDSE(), arms=["a", "b"], horizon=100, features=FEATURES, **GIVEN)
    agent.ask(context={"device": "fridge", "size": None, "hour": 3})
    agent.ask()
    with agent.play(context={"device": "phone", "size": 0, "hour": float("nan")}):
        pass
    assert agent.counts.features_missing == 1 + 3 + 1
    assert agent.counts.features_unknown == 2


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ({"color": 1}, "has 'color'; the features of this agent are device, size, hour"),
        ({"size": "big"}, "'size' is 'big'; it must be a number"),
        ({"device": 3}, "'device' is 3; it must be a text"),
        ({"hour": math.inf}, "'hour' is infinite"),
        ([1], "give a dict of values by name"),
    ],
)
def test_bad_contexts_are_refused(context: Any, words: str) -> None:
    """In one sentence, and nothing is played."""
    agent = Agent(arms=["a", "b"], features=FEATURES, **GIVEN)
    with pytest.raises(InputError, match=words):
        agent.ask(context=context)
    assert agent.counts.asked == 0


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ({}, "give a dict of names and kinds"),
        ({"x": str}, "'x' is <class 'str'>; give float"),
        ({"x": ["a", "a"]}, "different texts"),
        ({"": float}, "is called ''"),
        ({"x": np.array(["a", "b"])}, "a list of different texts"),
        ({"x": [str(n) for n in range(1001)]}, "make 1001 columns, and at most 1000 are taken"),
    ],
)
def test_bad_features_are_refused(features: Any, words: str) -> None:
    """In one sentence."""
    with pytest.raises(InputError, match=words):
        Agent(arms=["a"], features=features, **GIVEN)
    with pytest.raises(InputError, match="has no features"):
        Agent(arms=["a"], **GIVEN).ask(context={"x": 1})


def test_a_set_of_texts_is_the_same_in_every_process(tmp_path: Path) -> None:
    """Its order is that of the texts, since that of a set changes from process to process."""
    texts = {"phone", "desktop", "watch", "car"}
    with Agent(arms=["a"], features={"x": texts}, path=tmp_path / "x.db", **GIVEN) as agent:
        agent.ask(context={"x": "car"})
    listed = {"x": ["car", "desktop", "phone", "watch"]}
    with Agent(arms=["a"], features=listed, path=tmp_path / "x.db", **GIVEN) as agent:
        assert agent.counts.asked == 1


def test_explained_for_a_request() -> None:
    """Means are those for such a request, and the feature that moves an arm is named."""
    clock = ManualClock()
    agent = Agent(arms=["a", "b"], seed=1, clock=clock, features=FEATURES, **GIVEN)
    drive(agent, clock, 400, 2)
    phone, desktop = (agent.explain(context={"device": d}) for d in ("phone", "desktop"))
    assert phone["a"].mean < phone["b"].mean
    assert desktop["b"].mean < desktop["a"].mean
    assert phone["a"].low <= phone["a"].mean <= phone["a"].high
    assert "device" in phone["a"].why
    assert "sooner" in phone["a"].why
    with pytest.raises(InputError, match="keeps no effects of features"):
        Agent(tarry.SurvivalThompson(), arms=["a"], features=FEATURES, **GIVEN).explain(
            context={"device": "phone"}
        )


def exponential(mean: float, rng: random.Random) -> float:
    """A delay in seconds."""
    return rng.expovariate(1.0 / mean)


@pytest.mark.parametrize(
    "means",
    [
        {"phone": (1.0, 4.0), "desktop": (4.0, 2.0)},
        {"phone": (1.0, 1.5), "desktop": (1.5, 1.0)},
        {"phone": (2.0, 3.0), "desktop": (2.0, 3.0)},
    ],
    ids=["opposite", "close", "useless"],
)
def test_intervals_for_a_request_cover(means: dict[str, tuple[float, float]]) -> None:
    """Also for the arm that is rarely chosen for such requests; what is asked for is 95 %."""
    most = 10.0
    covered: dict[str, list[bool]] = {"chosen": [], "other": []}
    widths: list[float] = []  # of the arm that is chosen
    for seed in range(4):
        clock, rng = ManualClock(), random.Random(seed)
        agent = Agent(
            arms=["a", "b"],
            seed=seed,
            clock=clock,
            features={"device": ["phone", "desktop"]},
            payoff="cost",
            max_delay=most,
        )
        counts = {(device, arm): 0 for device in means for arm in "ab"}
        for _ in range(300):
            device = rng.choice(list(means))
            play = agent.ask(context={"device": device})
            counts[device, play.arm] += 1
            delay = exponential(means[device]["ab".index(play.arm)], rng)
            clock.advance(min(delay, most))
            if delay < most:
                agent.tell(play)
        for device, two in means.items():
            told = agent.explain(context={"device": device})
            for arm, mean in zip("ab", two, strict=True):
                truth = mean * (1.0 - math.exp(-most / mean))  # never more than max_delay
                low, high = told[arm].low, told[arm].high
                often = counts[device, arm] >= 300 / 4
                covered["chosen" if often else "other"].append(low <= truth <= high)
                widths += [high - low] if often else []
    assert min(np.mean(found) for found in covered.values()) >= 0.9
    assert np.mean(widths) < most / 5


def test_little_known_is_said() -> None:
    """An arm that had no play for such requests may have any mean, and the words say so."""
    clock = ManualClock()
    agent = Agent(
        arms=["a", "b"], seed=1, clock=clock, features={"kind": ["usual", "rare"]}, **GIVEN
    )
    for number in range(60):
        play = agent.ask(context={"kind": "rare" if number == 2 else "usual"})
        clock.advance(0.3 if play.arm == "a" else 0.5)
        agent.tell(play)
    told = agent.explain(context={"kind": "rare"})
    for row in (told["a"], told["b"]):
        assert "little is known" in row.why
        assert row.high - row.low > 1.0  # of 2, though neither arm's delays ever varied
    assert "little" not in agent.explain(context={"kind": "usual"})["a"].why
    assert "kind=usual" not in told["a"].why  # the words speak of this request


@pytest.mark.parametrize("features", [None, {"x": float}], ids=["plain", "features"])
def test_an_arm_never_heard_of_may_take_any_time(features: dict[str, Any] | None) -> None:
    """Its interval is 0 to max_delay; it was as if half a play had been seen."""
    agent = Agent(arms=["a", "b"], payoff="reward", max_delay=10.0, features=features)
    told = agent.explain() if features is None else agent.explain(context={"x": 3.0})
    for row in told.arms:
        assert (row.low, row.high) == (0.0, 10.0)
        assert 0.0 < row.mean < 10.0


def test_a_key_knows_its_context_in_any_order() -> None:
    """A retry is the same request whichever value comes first; another value is another one."""
    agent = Agent(arms=["a", "b"], features={"kind": ["a", "b"], "x": float}, **GIVEN)
    play = agent.ask(key="k", context={"kind": "a", "x": 0.0})
    assert agent.ask(key="k", context={"x": -0.0, "kind": "a"}) == play
    for other in ({"kind": "a"}, {"kind": "b", "x": 0.0}, None):
        with pytest.raises(ConflictError, match="with another context"):
            agent.ask(key="k", context=other)


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ({"a\tb": float}, r"The name of a feature 'a\\tb' cannot be shown; leave out control"),
        ({"kind": ["a", "b\n"]}, r"The value of the feature 'kind' 'b\\n' cannot be shown; leave"),
    ],
)
def test_control_characters_are_refused(features: dict[str, Any], words: str) -> None:
    """In names and listed values, as in names of arms; in a context such a text is unknown."""
    with pytest.raises(InputError, match=words):
        Agent(arms=["a", "b"], features=features, **GIVEN)
    agent = Agent(arms=["a", "b"], features={"kind": ["a", "b"]}, **GIVEN)
    agent.ask({"kind": "b\n"})
    assert agent.counts.features_unknown == 1


def test_control_characters_of_an_old_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is opened as before, with the features or without."""
    told: dict[str, Any] = {**GIVEN, "path": tmp_path / "a.db", "durability": "normal"}
    features = {"a\tb": ["x\n", "y"]}
    with monkeypatch.context() as before:
        before.setattr(Features, "check_shown", lambda _: None)
        Agent(arms=["a", "b"], features=features, **told).close()
    for given in (features, None):
        with Agent(features=given, **told) as agent:
            agent.ask({"a\tb": "x\n"})
            assert agent.counts.features_unknown == 0


@pytest.mark.parametrize("period", [10**400, 0, math.inf, math.nan, True])
def test_a_period_is_a_positive_number(period: Any) -> None:
    """One sentence, also for a whole number that is larger than any float."""
    with pytest.raises(InputError, match=r"The period is .*; it must be a positive number"):
        tarry.cyclic(period)


def test_a_period_of_any_size() -> None:
    """Half of the largest period is half a turn."""
    features = Features({"h": tarry.cyclic(1e308)})
    assert features.numbers(features.checked({"h": 5e307}))[0] == [0.0, -1.0]


@pytest.mark.parametrize("payoff", ["cost", "reward"])
def test_explanations_name_what_matters(payoff: Any) -> None:
    """Not features that say nothing; and "later" is what makes the mean longer, not the odds.

    Half of the requests of kind "b" are never answered, the others sooner than those of kind "a".
    """
    named = {"x": 0, "kind": 0}
    for seed in range(6):
        clock, rng = ManualClock(), random.Random(seed)  # a simulation
        told: dict[str, Any] = {"payoff": payoff, "max_delay": 30.0, "clock": clock, "seed": seed}
        agent = Agent(arms=["0", "1"], features={"kind": ["a", "b"], "x": float}, **told)
        for _ in range(400):
            kind = rng.choice("ab")
            play = agent.ask(context={"kind": kind, "x": rng.gauss(0, 1)})
            lost = kind == "b" and rng.random() < 0.5
            agent.tell(play, 30.0 if lost else rng.expovariate(1.0 if kind == "a" else 3.0))
            clock.advance(40.0)
        for row in agent.explain(context={"kind": "b", "x": 1.5}).arms:
            named["x"] += "x:" in row.why
            named["kind"] += "kind=b: later" in row.why
            assert "kind=b: sooner" not in row.why
    assert named["x"] <= 2  # of 12; it was 2 of 112 with other seeds beside these
    assert named["kind"] >= 6
