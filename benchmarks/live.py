"""Speed of live use: python -m benchmarks.live [--quick].

Times of a choice and of a tell without a file, at 10 arms; the durable rate as a ratio to the
disk's own fsync rate, both measured in turns in the same folder; and how long a journal of a
million plays takes to open after its process died.
"""

import argparse
import heapq
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tarry
from tarry.live import Agent, ManualClock

ARMS = [f"arm{k}" for k in range(10)]
MEANS = {name: 0.05 + 0.02 * k for k, name in enumerate(ARMS)}  # seconds
BETWEEN = 0.002  # seconds between two plays, so that some 25 to 100 are out at any time


class Traffic:
    """Plays whose answers come back after exponential times, on a clock of its own."""

    def __init__(self, agent: Agent, clock: ManualClock) -> None:
        self.agent, self.clock = agent, clock
        self.rng = random.Random(1)
        self.out: list[tuple[float, int]] = []
        self.ask_times: list[float] = []
        self.tell_times: list[float] = []

    def run(self, plays: int) -> None:
        """So many asks, and the tells that fall due meanwhile."""
        timer = time.perf_counter
        agent, clock, out = self.agent, self.clock, self.out
        for _ in range(plays):
            clock.advance(BETWEEN)
            while out and out[0][0] <= clock.time:
                number = heapq.heappop(out)[1]
                begin = timer()
                agent.tell(number)
                self.tell_times.append(timer() - begin)
            begin = timer()
            play = agent.ask()
            self.ask_times.append(timer() - begin)
            back = clock.time + self.rng.expovariate(1 / MEANS[play.arm])
            heapq.heappush(out, (back, play.id))


def made(policy: Any, clock: ManualClock, **more: Any) -> Agent:
    """An agent of ten arms with D = 2 s."""
    return Agent(
        policy, arms=ARMS, payoff="cost", max_delay=2.0, seed=1, clock=clock, horizon=10**6, **more
    )


def choice_times(plays: int) -> None:
    """Microseconds for a choice and a tell, for policies that make sense live."""
    print(f"\nWithout a file, {len(ARMS)} arms, median of {plays} (99th percentile), microseconds")
    policies = [
        tarry.SurvivalThompson(),
        tarry.SurvivalUCB(),
        tarry.DelayedThompson(),
        tarry.DelayedUCB(),
        tarry.CensoredUCB(),
        tarry.OPSE(),
        tarry.SEPK(),
        tarry.BDSE(keep_history=True),
    ]
    for policy in policies:
        clock = ManualClock()
        traffic = Traffic(made(policy, clock), clock)
        traffic.run(plays)
        cells = []
        for times in (traffic.ask_times, traffic.tell_times):
            ordered = sorted(times)
            middle, late = ordered[len(times) // 2], ordered[int(0.99 * len(times))]
            cells.append(f"{middle * 1e6:6.1f} ({late * 1e6:6.1f})")
        print(f"  {type(policy).__name__:17s} ask {cells[0]}   tell {cells[1]}")


def per_second(work: Callable[[], None], seconds: float) -> float:
    """How often `work` runs in a second."""
    begin = time.perf_counter()
    times = 0
    while time.perf_counter() - begin < seconds:
        work()
        times += 1
    return times / (time.perf_counter() - begin)


def fsync_rate(folder: Path, seconds: float) -> float:
    """Appends of 4 KiB, each with an fsync, per second."""
    with (folder / "plain").open("ab", buffering=0) as file:

        def append() -> None:
            file.write(b"x" * 4096)
            os.fsync(file.fileno())

        return per_second(append, seconds)


def event_rate(agent: Agent, threads: int, seconds: float) -> float:
    """Acknowledged asks and tells per second from so many threads."""
    rates = [0.0] * threads

    def work(place: int) -> None:
        rates[place] = 2 * per_second(lambda: ask_and_tell(agent), seconds)

    workers = [threading.Thread(target=work, args=(place,)) for place in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(rates)


def ask_and_tell(agent: Agent) -> None:
    """One play that comes back at once."""
    agent.tell(agent.ask().id)


def durable_rates(folder: Path, rounds: int) -> None:
    """Events per second against the disk's own fsync rate."""
    print("\nDurable events per second, and as a ratio to the disk's own fsync rate")
    cases = [("full", 1), ("full", 8), ("full", 32), ("normal", 1)]
    agents = {}
    for durability, threads in cases:
        path = folder / f"{durability}{threads}.db"
        agents[durability, threads] = Agent(
            arms=ARMS,
            payoff="cost",
            max_delay=2.0,
            seed=1,
            path=path,
            durability=durability,  # type: ignore[arg-type]  # one of the two words
        )
    totals = dict.fromkeys(agents, 0.0)
    plain = 0.0
    for _ in range(rounds):
        plain += fsync_rate(folder, 0.5) / rounds
        for case, agent in agents.items():
            totals[case] += event_rate(agent, case[1], 0.5) / rounds
    print(f"  the disk alone               {plain:9.0f} fsync/s")
    for (durability, threads), rate in totals.items():
        words = f"{durability}, {threads} thread{'s' * (threads > 1)}"
        print(f"  {words:27s}  {rate:9.0f} /s   ratio {rate / plain:6.2f}")
    for agent in agents.values():
        agent.close()


def reopening(folder: Path, plays: int) -> None:
    """Seconds to open a journal of so many plays whose process died."""
    path = folder / "million.db"
    clock = ManualClock()
    agent = made(tarry.SurvivalThompson(), clock, path=path, durability="normal")
    traffic = Traffic(agent, clock)
    begin = time.perf_counter()
    traffic.run(plays)
    taken = time.perf_counter() - begin
    before = agent.counts
    assert agent._journal is not None  # noqa: SLF001  # the benchmark plays the crash
    agent._journal._db.close()  # noqa: SLF001
    size = path.stat().st_size / 2**20
    begin = time.perf_counter()
    agent = made(tarry.SurvivalThompson(), clock, path=path, in_flight="keep")
    opened = time.perf_counter() - begin
    assert agent.counts == before
    agent.close()
    print(
        f"\nA journal of {plays} plays ({taken / plays * 1e6:.0f} us each, answers included) is "
        f"{size:.1f} MiB and opens in {opened:.2f} s after a crash"
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.live", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer plays and rounds")
    options = parser.parse_args(arguments)
    choice_times(5_000 if options.quick else 50_000)
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        durable_rates(Path(folder), 1 if options.quick else 5)
        reopening(Path(folder), 20_000 if options.quick else 1_000_000)


if __name__ == "__main__":
    main()
