"""Simulated visitors, for `tarry serve --demo`: they come, look, and leave, some without a word.

A visitor takes the way of a real browser: asks for a variant, confirms that it is shown, reports
now and then how long it was looked at, and says so at the end. Some never confirm, since they left
before the page was there, and of every fifth the end is lost.
"""

import asyncio
import contextlib
import math
from collections.abc import Mapping
from typing import NamedTuple

import httpx
import msgspec
import numpy as np

from tarry.service.messages import AgentBody

NAME = "front-page"
MAX_DELAY = 120.0
LEASE = 15.0
RATE = 3.0  # visits per second
LOST = 0.2  # share of ends that nobody hears of
NEVER = 0.02  # share of visitors who leave before anything is shown


class Content(NamedTuple):
    """How long visitors look at a variant, in seconds.

    Some bounce: they see that it is not for them, and leave soon. The others stay for a log-normal
    time.
    """

    bounce: float  # share of visitors
    glance: float  # their mean
    median: float  # of those who stay
    spread: float  # standard deviation of the logarithm

    def draw(self, rng: np.random.Generator) -> float:
        """The time of one visitor."""
        if rng.random() < self.bounce:
            return float(rng.exponential(self.glance))
        return float(self.median * np.exp(self.spread * rng.standard_normal()))

    def mean(self, most: float) -> float:
        """The mean of the times, longer ones counted as `most`.

        E min(X, D) of an exponential law is m (1 - exp(-D / m)); of a log-normal one
        exp(mu + s^2 / 2) Phi(z - s) + D (1 - Phi(z)) with z = (log D - mu) / s.
        """
        short = self.glance * (1.0 - math.exp(-most / self.glance))
        z = math.log(most / self.median) / self.spread
        whole = self.median * math.exp(self.spread**2 / 2)
        long = whole * below(z - self.spread) + most * (1.0 - below(z))
        return self.bounce * short + (1.0 - self.bounce) * long


CONTENTS: Mapping[str, Content] = {
    "story": Content(0.35, 2.5, 16.0, 0.9),
    "quiz": Content(0.25, 2.5, 22.0, 0.8),
    "video": Content(0.50, 2.0, 24.0, 0.8),
    "gallery": Content(0.30, 2.5, 9.0, 0.7),
}


def below(z: float) -> float:
    """The share of a standard normal law below z."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def body() -> AgentBody:
    """The agent that they visit."""
    arms = list(CONTENTS)
    return AgentBody(arms=arms, payoff="reward", max_delay=MAX_DELAY, lease=LEASE)


async def visit(address: str, over: asyncio.Event, key: str = "") -> None:
    """Let visitors come to the service at `address` until it is over."""
    limits = httpx.Limits(max_connections=100, max_keepalive_connections=100)
    headers = {"Origin": address}
    async with httpx.AsyncClient(
        base_url=address, headers=headers, limits=limits, timeout=10.0
    ) as http:
        await visits(http, over, key=key)


async def visits(
    http: httpx.AsyncClient,
    over: asyncio.Event,
    *,
    key: str = "",
    rate: float = RATE,
    lost: float = LOST,
    most: float = math.inf,
    seed: int | None = None,
) -> None:
    """Let visitors come, `rate` per second at random times, until it is over or `most` came.

    In the end, those who are there are given the time to leave, unless it is over.
    """
    rng = np.random.default_rng(seed)
    there: set[asyncio.Task[None]] = set()
    came = 0
    while came < most and not over.is_set():
        one = Visit(http, key, np.random.default_rng(rng.integers(2**63)), lost)
        task = asyncio.ensure_future(one.go())
        there.add(task)
        task.add_done_callback(there.discard)
        came += 1
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), float(rng.exponential(1.0 / rate)))
    if over.is_set():
        for task in there:
            task.cancel()
    await asyncio.gather(*there, return_exceptions=True)


class Visit:
    """One visitor."""

    def __init__(
        self, http: httpx.AsyncClient, key: str, rng: np.random.Generator, lost: float
    ) -> None:
        self.http, self.key, self.rng, self.lost = http, key, rng, lost

    async def go(self) -> None:
        """Come, look, leave; a service that is away is no reason to complain."""
        with contextlib.suppress(httpx.HTTPError):
            answer = await self._post("ask", {"key": self.key, "agent": NAME})
            if answer.status_code == 200 and self.rng.random() >= NEVER:
                await self._look(answer.json())

    async def _look(self, shown: dict[str, object]) -> None:
        token, beat = shown["token"], float(str(shown["heartbeat"]))
        stay = CONTENTS[str(shown["arm"])].draw(self.rng)
        stay = min(stay, float(str(shown["max_delay"])))
        seen = 0.0
        while seen < stay:
            await self._post("alive", {"token": token, "seconds": seen})
            step = min(beat, stay - seen)
            await asyncio.sleep(step)
            seen += step
        if self.rng.random() >= self.lost:
            await self._post("end", {"token": token, "seconds": stay})

    async def _post(self, what: str, message: dict[str, object]) -> httpx.Response:
        """As a page does: JSON sent as plain text."""
        plain = {"Content-Type": "text/plain"}
        content = msgspec.json.encode(message)
        return await self.http.post(f"/v1/page/{what}", content=content, headers=plain)
