"""Processor time of a choice and its answer: python -m benchmarks.live_speed [--quick].

An agent without a file is asked, and told of the play made `OUT` plays earlier, again and again.
A pair of calls is timed in batches, by the processor time of the whole process, so that other
programs do not count; the loop around the calls does. Printed is the median over the batches, as
machine code and interpreted.

How the same agent compares with other libraries, all driven by one loop: `make bench-peers`, where
ARGS="--arms 10" sets the number of arms.
"""

import argparse
import os
import random
import statistics
import time
from collections import deque
from typing import Any

import tarry
from tarry.live import Agent, ManualClock
from tarry.live.machine import OPTION

OUT = 30  # plays that are out
BATCH = 200  # pairs of calls
D = 2.0
POLICIES: tuple[Any, ...] = (
    tarry.SurvivalThompson(),
    tarry.RegimeThompson(),
    tarry.DelayedThompson(),
    tarry.DelayedUCB(),
)


def pair_times(policy: Any, arms: int, batches: int, compiled: str = "now") -> list[float]:
    """Microseconds of processor time for an ask and a tell, one number per batch."""
    before = os.environ.get(OPTION, "")
    os.environ[OPTION] = compiled
    clock = ManualClock()
    names = [f"arm{k}" for k in range(arms)]
    agent = Agent(policy, arms=names, payoff="cost", max_delay=D, seed=1, clock=clock)
    os.environ[OPTION] = before
    rng = random.Random(1)
    delays = [min(rng.expovariate(10.0), D) for _ in range(BATCH)]
    out = deque(agent.ask().id for _ in range(OUT))
    times = []
    for _ in range(batches + 1):
        begin = time.process_time()
        for delay in delays:
            clock.time += 0.002
            agent.tell(out.popleft(), delay)
            out.append(agent.ask().id)
        times.append((time.process_time() - begin) / BATCH * 1e6)
    return times[1:]  # the first has the change to machine code in it


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.live_speed", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer batches")
    batches = 20 if parser.parse_args(arguments).quick else 400
    print("An ask and a tell, microseconds of processor time: median (99th percentile)")
    for policy in POLICIES:
        for arms in (3, 10, 100):
            cells = []
            for word, how, share in (("machine code", "now", 1.0), ("interpreted", "never", 0.1)):
                times = sorted(pair_times(policy, arms, max(int(batches * share), 5), how))
                late = times[int(0.99 * len(times))]
                cells.append(f"{word} {statistics.median(times):6.1f} ({late:6.1f})")
            print(f"  {type(policy).__name__:17s} {arms:3d} arms   {'   '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
