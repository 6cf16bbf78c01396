"""What a view says in words and figures where a single winner would be the wrong story."""

import re
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.service.states import BEGAN, Life, answers, state

import tarry
from tarry.live import Agent, ManualClock
from tarry.service.shares import Shares
from tarry.service.view import view
from tarry.service.watching import unchanging
from tarry.service.words import duration

pytestmark = pytest.mark.xdist_group("browser")  # where the states are, that take long to make


def made(*arms: str, **settings: Any) -> tuple[Agent, ManualClock]:
    """An agent for costs of at most ten minutes, and its clock."""
    clock = ManualClock(BEGAN)
    told: dict[str, Any] = {"payoff": "cost", "max_delay": 600.0, "seed": 1} | settings
    return Agent(arms=list(arms), clock=clock, **told), clock


def played(agent: Agent, delays: dict[str, float], count: int) -> Agent:
    """So many plays, each arm with its delay."""
    for _ in range(count):
        play = agent.ask()
        agent.tell(play, delays[play.arm])
    return agent


def test_the_mean_is_that_of_the_plays() -> None:
    """Three plays of a second are a second on average, however long a play may take."""
    agent, _ = made("a")
    doc = view(played(agent, {"a": 1.0}, 3), Shares())
    assert doc["arms"][0]["mean"] == pytest.approx(1.0)
    assert doc["sentence"].startswith("a takes 1")


def test_the_mean_is_that_of_the_log_or_below() -> None:
    """Equal where the curve is known to its end; a log that does not know it says "at most"."""
    life = Life({"a": answers(40.0), "b": answers(90.0)}, payoff="reward", max_delay=600.0)
    for _ in range(12):
        life.live(5, 20.0)
        arms = life.view("x")["arms"]
        means = life.agent.history().means()
        for arm in (arm for arm in arms if arm["mean"] is not None):
            exact = means[arm["name"]]
            assert arm["low"] <= arm["mean"] <= arm["high"]
            near = 0.02 * (exact.high - exact.low)  # ages are in bins
            assert arm["mean"] <= exact.mean + near
            if not exact.open_end:
                assert arm["mean"] == pytest.approx(exact.mean, abs=near)
    life.clock.advance(600.0)
    life.live(1, 600.0)
    for arm in life.view("x")["arms"]:
        exact = life.agent.history().means()[arm["name"]]
        assert arm["mean"] == pytest.approx(exact.mean, rel=1e-4)


def test_no_cost_where_arms_change() -> None:
    """The means of today do not say what was lost yesterday."""
    agent, clock = made("a", "b", policy=tarry.RegimeThompson(), max_delay=2.0)
    for k in range(400):
        play = agent.ask()
        clock.advance(1.0)
        agent.tell(play, 0.05 if (play.arm == "a") == (k < 200) else 0.4)
    doc = view(agent, Shares())
    assert doc["cost_of_learning"] is None
    assert doc["follows_change"]
    assert "cost" not in doc["sentence"]
    assert "on average at present" in doc["sentence"]


def test_a_change_is_said_once() -> None:
    """By the alarm while it is news, with the state of the arm later."""
    arm = next(arm for arm in state("changing")["arms"] if arm["alarm"])
    assert arm["changed"]["news"]
    assert re.search(r"it changed about [12] min ago, (9\d|> 99) % sure", arm["alarm"])
    assert state("changing")["now"] - arm["changed"]["since"] == pytest.approx(100.0, abs=40.0)


def test_no_winner_where_the_choice_depends_on_the_request() -> None:
    """Shares instead; a mean over all requests compares different requests."""
    doc = state("requests")
    assert doc["features"] == ["device"]
    assert (doc["leader"], doc["sure"], doc["cost_of_learning"]) == (None, None, None)
    assert [arm["best"] for arm in doc["arms"]] == [None, None]
    first, second = doc["sentences"]
    assert first.startswith("The choice may depend on the request (device): lately, ")
    assert second == "The mean of an arm is over the requests that it was chosen for."
    many, _ = made(*"abcdef", features=dict.fromkeys("wxyz", float))
    for _ in range(60):
        many.tell(many.ask(dict.fromkeys("wxyz", 1.0)), 1.0)
    assert "(w, x, …)" in view(many, Shares())["sentence"]
    assert "others for the rest." in view(many, Shares())["sentence"]
    one, _ = made("only", features={"device": ["phone"]})
    one.ask({"device": "phone"})
    assert view(one, Shares())["sentence"] == "1 play is out and nothing has come back yet."
    played(one, {"only": 1.0}, 3)
    assert "there is no other arm" in view(one, Shares())["sentence"]


def test_a_paused_arm_that_is_better() -> None:
    """Chances are among the arms that can be chosen, and what could be had is said."""
    doc = state("paused")
    arms = {arm["name"]: arm for arm in doc["arms"]}
    assert (doc["leader"], doc["choices"], arms["fra"]["best"]) == ("lon", 2, None)
    assert arms["lon"]["best"] + arms["nyc"]["best"] == pytest.approx(1.0, abs=1e-4)
    assert doc["better_paused"]["name"] == "fra"
    assert "best of 2 that can be chosen" in doc["sentences"][0]
    assert doc["sentences"][1] == "fra is quicker, but it is paused."
    agent, _ = made("fra", "ams", max_delay=2.0)
    played(agent, {"fra": 0.4, "ams": 0.05}, 120).pause_arm("ams")
    doc = view(agent, Shares())
    assert doc["sentence"].startswith("fra takes ")
    assert "; no other arm can be chosen. ams is quicker, but it is paused." in doc["sentence"]


def test_a_paused_arm_of_which_alone_something_is_known() -> None:
    """It leads, and is said to be paused."""
    agent, _ = made("a")
    played(agent, {"a": 1.0}, 5).add_arm("b")
    agent.pause_arm("a")
    doc = view(agent, Shares())
    assert doc["leader"] == "a"
    assert doc["sentences"][1] == "a is paused."


def test_a_cost_of_nothing() -> None:
    """It is no number with six zeros."""
    agent, _ = made("a", "b")
    doc = view(played(agent, {"a": 0.3, "b": 0.3}, 50), Shares())
    assert doc["cost_of_learning"]["value"] == 0
    assert doc["sentence"].endswith("Finding out has cost next to nothing so far.")
    assert [duration(0.0), duration(0.0, 0.0), duration(3.0, 0.0)] == ["0 s", "0 s", "3.0 s"]


def test_nothing_came_back() -> None:
    """Since all was cancelled, since nobody was heard of, or since those arms are gone."""
    agent, _ = made("a", "b")
    for _ in range(3):
        agent.cancel(agent.ask())
    said = view(agent, Shares())["sentence"]
    assert said == "Nothing has come back yet: all plays were cancelled."
    played(agent, {"a": 1.0, "b": 2.0}, 20)
    for name in ("a", "b"):
        agent.remove_arm(name)
    said = view(agent, Shares())["sentence"]
    assert said == "There is no arm to choose; add one to go on."
    agent.add_arm("c")
    said = view(agent, Shares())["sentence"]
    assert said == "Nothing has come back of these arms yet; 20 plays of others ended."
    leased, clock = made("a", lease=3.0, payoff="reward")
    leased.ask()
    clock.advance(9.0)
    said = view(leased, Shares())["sentence"]
    assert said == "Nothing has come back yet: no play was heard of to its end."


@pytest.mark.parametrize("policy", [tarry.SurvivalThompson, tarry.RegimeThompson])
def test_time_alone_is_no_news(policy: type[Any]) -> None:
    """Who watches an idle agent is sent nothing; a play that is out grows older."""
    agent, clock = made("a", "b", policy=policy())
    rng, shares = np.random.default_rng(1), Shares()

    def now() -> bytes:
        return unchanging(msgspec.json.encode(view(agent, shares)))

    for _ in range(60):
        play = agent.ask()
        clock.advance(1.0)
        agent.tell(play, float(rng.uniform(0.1, 0.9)))
    agent.pause_arm("a")
    clock.advance(400.0)
    before = now()
    clock.advance(7.3)
    assert now() == before
    agent.ask()
    out = now()
    clock.advance(1.0)
    assert now() != out != before
