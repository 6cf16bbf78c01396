"""Agents in the states that a dashboard must be able to show, and their views."""

import heapq
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tarry import RegimeThompson
from tarry.live import Agent, ManualClock
from tarry.service.shares import Shares
from tarry.service.view import view

BEGAN = 1_790_000_000.0
Law = Callable[[np.random.Generator], float]


class Life:
    """An agent that is asked at a steady pace, on a clock of its own."""

    def __init__(self, laws: dict[str, Law], **settings: Any) -> None:
        self.clock = ManualClock(BEGAN)
        self.laws = dict(laws)
        self.agent = Agent(arms=list(laws), seed=5, clock=self.clock, **settings)
        self.shares = Shares()
        self.rng = np.random.default_rng(7)
        self.coming: list[tuple[float, int, float]] = []
        self.contexts: list[dict[str, str]] = []  # of requests, in turn, where there are features

    def live(self, plays: int, gap: float) -> "Life":
        """So many plays, so many seconds apart."""
        for number in range(plays):
            self._tell()
            some = self.contexts
            play = self.agent.ask(some[number % len(some)] if some else None)
            delay = self.laws[play.arm](self.rng)
            heapq.heappush(self.coming, (self.clock.time + abs(delay), play.id, delay))
            self.clock.advance(gap)
            if number % 1000 == 0:
                self.shares.follow(self.agent)
        self._tell()
        return self

    def _tell(self) -> None:
        while self.coming and self.coming[0][0] <= self.clock.time:
            _, play, delay = heapq.heappop(self.coming)
            if delay < 0:  # so a law says that a play fails
                self.agent.fail(play)
            else:
                self.agent.tell(play, delay)

    def view(self, name: str) -> dict[str, Any]:
        """What a dashboard shows of it."""
        return view(self.agent, self.shares) | {"name": name}


def stays(scale: float, bounce: float = 0.3) -> Law:
    """Visitors: some leave at once, the others stay for a log-normal time."""
    return lambda rng: (
        rng.exponential(3.0)
        if rng.random() < bounce
        else float(np.exp(rng.normal(np.log(scale), 0.9)))
    )


def answers(scale: float, failing: float = 0.0) -> Law:
    """Servers: a gamma law, and failures after a millisecond."""
    return lambda rng: -0.001 if rng.random() < failing else scale * float(rng.gamma(4.0)) / 4.0


PAGES = {
    "quiz": stays(60.0),
    "essay": stays(95.0, 0.2),
    "video": stays(70.0, 0.45),
    "long read": stays(80.0, 0.35),
    "gallery": stays(50.0),
}
ROUTES = {
    "fra": answers(0.041),
    "ams": answers(0.046),
    "lon": answers(0.09),
    "nyc": answers(0.16),
}


def new() -> dict[str, Any]:
    """Made just now, and never asked."""
    return Life(PAGES, payoff="reward", max_delay=600.0).view("front-page") | {"lease": 15.0}


def early() -> dict[str, Any]:
    """Two arms and a few plays."""
    laws = {"quiz": PAGES["quiz"], "essay": PAGES["essay"]}
    return Life(laws, payoff="reward", max_delay=600.0).live(24, 9.0).view("front-page")


def settled() -> dict[str, Any]:
    """Five arms, one of them clearly the best."""
    return Life(PAGES, payoff="reward", max_delay=600.0).live(4000, 2.0).view("front-page")


def troubled() -> dict[str, Any]:
    """An arm that fails, one that hangs, one that is paused, and a store that cannot be written."""
    life = Life(ROUTES, payoff="cost", max_delay=2.0).live(2000, 0.05)
    life.agent.pause_arm("fra")
    life.live(400, 0.05).agent.resume_arm("fra")
    life.live(600, 0.05)
    life.view("routes")
    life.agent.pause_arm("nyc")
    life.view("routes")
    life.clock.advance(1260.0)
    life.laws |= {"fra": answers(0.001, 0.5), "ams": lambda _: 1.9}
    doc = life.live(160, 0.009).view("routes")
    store = {"kind": "postgres", "state": "away"}
    text = "The store cannot be written; 312 facts in memory only."
    doc["sentences"].insert(1, text)
    return doc | {"store": store | {"text": text}, "sentence": " ".join(doc["sentences"])}


def thousand() -> dict[str, Any]:
    """A thousand arms, with names of all kinds."""
    rng = np.random.default_rng(1)
    laws = {f"headline {k:04d}": stays(float(rng.uniform(20.0, 60.0))) for k in range(998)}
    laws |= {
        "A headline that goes on and on and on, far longer than any column is wide " * 2: stays(
            90.0
        )
    }
    laws |= {"Ü <b>42</b> & \u202emirror": stays(70.0)}
    return Life(laws, payoff="reward", max_delay=300.0).live(3000, 1.0).view("headlines")


def changing() -> dict[str, Any]:
    """A policy that follows change, and an arm that changed a short while ago."""
    laws = {"fra": answers(0.05), "ams": answers(0.3)}
    life = Life(laws, policy=RegimeThompson(), payoff="cost", max_delay=2.0).live(4000, 0.1)
    life.laws["fra"] = answers(0.9)
    life.live(800, 0.1).clock.advance(60.0)
    return life.view("routes")


def requests() -> dict[str, Any]:
    """An arm for phones and one for desktops."""
    features = {"device": ["phone", "desktop"]}
    laws = {"small": answers(0.05), "large": answers(0.05)}
    life = Life(laws, payoff="cost", max_delay=2.0, features=features)
    for device in np.random.default_rng(3).choice(["phone", "desktop"], 300).tolist():
        life.contexts = [{"device": device}]
        right = "small" if device == "phone" else "large"
        life.laws = {arm: answers(0.05 if arm == right else 0.4) for arm in laws}
        life.live(1, 0.5)
    return life.view("pages")


def paused() -> dict[str, Any]:
    """Three arms, of which the best is paused."""
    laws = {"fra": answers(0.041), "lon": answers(0.09), "nyc": answers(0.16)}
    life = Life(laws, payoff="cost", max_delay=2.0).live(300, 0.5)
    life.agent.pause_arm("fra")
    return life.live(60, 0.5).view("routes")


MAKERS = {
    "new": new,
    "early": early,
    "settled": settled,
    "troubled": troubled,
    "thousand": thousand,
    "changing": changing,
    "requests": requests,
    "paused": paused,
}


@cache
def state(name: str) -> dict[str, Any]:
    """The view of an agent in this state."""
    return MAKERS[name]()
