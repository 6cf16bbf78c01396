"""Which features are said to move an arm: also those that say the same, and not useless ones."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from tarry.live import Agent, ManualClock, moving

MOST = 10.0
Context = dict[str, Any]


def told(
    draw: Callable[[random.Random], Context],
    effect: Callable[[Context], float],
    asked: Context,
    seed: int = 0,
    payoff: Any = "cost",
) -> dict[str, str]:
    """For each of two arms, which the effect moves in opposite ways, what is said of a request."""
    clock, rng = ManualClock(), random.Random(seed)  # a simulation
    features: Any = {
        name: ["phone", "desk"] if isinstance(value, str) else float
        for name, value in asked.items()
    }
    given: dict[str, Any] = {"payoff": payoff, "max_delay": MOST, "clock": clock, "seed": seed}
    agent = Agent(arms=["x", "y"], features=features, **given)
    for _ in range(400):
        context = draw(rng)
        play = agent.ask(context=context)
        sign = 1.0 if play.arm == "x" else -1.0
        delay = min(rng.expovariate(math.exp(-sign * effect(context))), MOST)
        clock.advance(delay)
        if delay < MOST:
            agent.tell(play)
    return {row.arm: row.why.split("; ")[-1] for row in agent.explain(context=asked).arms}


def copies(rng: random.Random) -> Context:
    """The same in three units, and a number that says nothing."""
    n = rng.gauss(0.0, 1.0)
    return {"seconds": n, "minutes": n / 60, "hours": n / 3600, "noise": rng.gauss(0.0, 1.0)}


@pytest.mark.parametrize("payoff", ["cost", "reward"])
@pytest.mark.parametrize("seed", range(3))
def test_features_that_say_the_same_do_not_hide_each_other(seed: int, payoff: Any) -> None:
    """They are named together, and what says nothing is not."""
    asked = {"seconds": 1.0, "minutes": 1 / 60, "hours": 1 / 3600, "noise": 1.0}
    why = told(copies, lambda context: 0.8 * context["seconds"], asked, seed, payoff)
    assert why == {
        "x": "seconds or minutes or hours: later",
        "y": "seconds or minutes or hours: sooner",
    }


def test_a_sum_is_named_beside_its_parts() -> None:
    """No two of them are alike, and any two say what the third does."""

    def draw(rng: random.Random) -> Context:
        one, other = rng.gauss(0.0, 1.0), rng.gauss(0.0, 1.0)
        return {"one": one, "other": other, "both": one + other}

    asked = {"one": 0.7, "other": 0.7, "both": 1.4}
    why = told(draw, lambda context: 0.6 * context["both"], asked)
    assert why == {"x": "both: later", "y": "both: sooner"}


def test_features_that_count_only_jointly_are_named() -> None:
    """What moves the arms is how two numbers differ that are nearly the same."""

    def draw(rng: random.Random) -> Context:
        n = rng.gauss(0.0, 1.0)
        return {"one": n, "other": n + 0.3 * rng.gauss(0.0, 1.0)}

    asked = {"one": 0.3, "other": -0.3}
    why = told(draw, lambda context: 2.5 * (context["one"] - context["other"]), asked)
    assert sorted(why["x"].split(", ")) == ["one: later", "other: later"]
    assert sorted(why["y"].split(", ")) == ["one: sooner", "other: sooner"]


def test_texts_that_say_the_same_are_named_with_their_values() -> None:
    """A list of values is one feature, whatever its columns."""

    def draw(rng: random.Random) -> Context:
        kind = rng.choice(["phone", "desk"])
        return {"device": kind, "screen": kind}

    asked = {"device": "phone", "screen": "phone"}
    why = told(draw, lambda context: 0.7 if context["device"] == "phone" else -0.7, asked)
    assert why["x"] == "device=phone or screen=phone: later"


def test_what_only_all_of_them_show_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where none is sure by itself, nor in a smaller model."""
    monkeypatch.setattr(moving.Model, "found", lambda _, chosen: [])
    asked = {"seconds": 1.0, "minutes": 1 / 60, "hours": 1 / 3600, "noise": 0.0}
    why = told(copies, lambda context: 0.8 * context["seconds"], asked)
    assert why == {"x": f"{moving.TOGETHER}: later", "y": f"{moving.TOGETHER}: sooner"}
