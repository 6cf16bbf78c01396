"""How often the intervals of the dashboard hold the truth.

python -m benchmarks.view_coverage               plays of an arm, 9 laws, 5 to 200 plays
python -m benchmarks.view_coverage --visitors    whole lives of a service with simulated visitors
"""

import argparse
import asyncio
from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np
from rich.progress import track

from benchmarks.log_coverage import COUNTS, LAWS, LIMIT, Draw
from benchmarks.virtual_time import Loop, run
from tarry.live import Agent
from tarry.live.curve import DelayCurve
from tarry.service import visitors
from tarry.service.agents import Agents, Served
from tarry.service.app import App
from tarry.service.how_sure import bins_of, mean_limits
from tarry.service.service import Service
from tarry.service.shelves import shelf_of
from tarry.service.view import view
from tarry.tables import aligned

TICKS = 10_000  # of the unit of time of the laws
BEGAN = 1_790_000_000.0
RATE = 5.0  # visits per second: about a hundred visitors are there at a time
HERE = "http://127.0.0.1"
FIELDS = ("events", "sums", "cut")


def coverage(law: Draw, count: int, runs: int, *, given_up: bool, seed: int) -> tuple[float, float]:
    """The share of intervals that hold the mean: of the view, and of `explain`."""
    rng = np.random.default_rng(seed)
    truth = float(law(rng, 1_000_000).mean()) / LIMIT
    curves = [DelayCurve(round(LIMIT * TICKS)) for _ in range(runs)]
    for curve in curves:
        times = law(rng, count)
        stop = rng.uniform(0.0, 2.0 * LIMIT, count) if given_up else np.full(count, np.inf)
        over = times <= stop
        curve.came_back(np.rint(times[over] * TICKS).astype(np.int64))
        curve.cancelled(np.rint(stop[~over] * TICKS).astype(np.int64))
    fields = (np.array([getattr(curve, name) for curve in curves]) for name in FIELDS)
    limits = mean_limits(bins_of(np.array(curves[0].edges), *fields))
    slack = 1e-4  # laws of a single point, rounded to a tick
    ours = (limits.low - slack <= truth) & (truth <= limits.high + slack)
    usual = [curve.estimate() for curve in curves]
    theirs = [e.low <= truth * LIMIT * TICKS <= e.high for e in usual]
    return float(ours.mean()), float(np.mean(theirs))


def visited(seed: int, count: int, lost: float = visitors.LOST) -> dict[str, Any]:
    """The view of the demo's agent after so many visits, through the page interface.

    In virtual time, so that it is the same every time, and nobody waits.
    """
    loop = Loop()

    def utc() -> float:
        return BEGAN + loop.time()

    agent = Agent(
        arms=list(visitors.CONTENTS),
        payoff="reward",
        max_delay=visitors.MAX_DELAY,
        lease=visitors.LEASE,
        seed=seed,
        clock=utc,
    )
    served = Served(visitors.NAME, agent)

    async def come() -> None:
        agents = Agents(shelf_of(None))
        agents.open[visitors.NAME] = served
        transport = httpx.ASGITransport(
            App(Service(agents, page_rate=1e9, clock=utc)), client=("127.0.0.1", 1)
        )
        told = {"transport": transport, "base_url": HERE, "headers": {"Origin": HERE}}
        async with httpx.AsyncClient(**told) as http:  # type: ignore[arg-type]  # of many kinds
            over = asyncio.Event()
            await visitors.visits(http, over, rate=RATE, most=count, seed=seed, lost=lost)
            await asyncio.sleep(visitors.LEASE)  # until all who vanished are known to have

    run(loop, come())
    return view(agent, served.shares)


def lives(runs: int, count: int, first: int) -> None:
    """Print how often the right content is named, and how often intervals hold."""
    truth = {name: law.mean(visitors.MAX_DELAY) for name, law in visitors.CONTENTS.items()}
    best = max(truth, key=truth.__getitem__)
    held = dict.fromkeys(truth, 0)
    named = sure = cost = 0
    for seed in track(range(first, first + runs), description="lives"):
        doc = visited(seed, count)
        named += doc["leader"] == best
        sure += doc["leader"] == best and doc["sure"] > 0.95
        for arm in doc["arms"]:
            held[arm["name"]] += arm["low"] <= truth[arm["name"]] <= arm["high"]
        lost = sum(arm["plays"] * (truth[best] - truth[arm["name"]]) for arm in doc["arms"])
        cost += doc["cost_of_learning"]["low"] <= lost <= doc["cost_of_learning"]["high"]
    print(f"{runs} lives of {count} visits, {visitors.LOST:.0%} of the ends lost:")
    print(f"the right content is named in {named}, with more than 95 % in {sure};")
    print("intervals that hold: " + ", ".join(f"{name} {n}" for name, n in held.items()), end="")
    print(f", cost of learning {cost}.")


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--visitors", action="store_true")
    parser.add_argument("--runs", type=int, default=None)
    parser.add_argument("--visits", type=int, default=900)
    parser.add_argument("--seed", type=int, default=100)
    told = parser.parse_args(arguments)
    if told.visitors:
        lives(told.runs or 20, told.visits, told.seed)
        return
    rows = [["law", "plays", "all watched", "explain", "some given up", "explain"]]
    for name, law in track(LAWS.items(), description="laws"):
        for count in COUNTS:
            found = [
                coverage(law, count, told.runs or 1000, given_up=given_up, seed=told.seed)
                for given_up in (False, True)
            ]
            rows.append([name, str(count), *(f"{share:.3f}" for pair in found for share in pair)])
    print("\n".join(aligned(rows, left=(0,))))


if __name__ == "__main__":
    main()
