"""How long an agent takes: `python -m benchmarks.live`.

    choices     ask and tell in memory, by policy and by number of arms
    stalls      median, 99th and 99.9th percentile and maximum, with and without a file, at D = 2 s
                and at D = 1 h with 250 000 plays in time
    crowd       cancel, explain, restart with 100 000 plays out
    disk        durable facts per second, against the disk's own fsync rate
    memory      (with --memory) growth over ten million plays

Times are those of the calling thread on a processor, and on the wall where that is said: on a busy
machine the second shows the other programs as well.
"""

import argparse
import gc
import heapq
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tarry
from tarry.live import Agent, ManualClock
from tarry.live.store.sqlite import SqliteStore

WARM = 3_000  # plays before anything is measured, after which machine code is there


class Traffic:
    """Plays whose answers come back after exponential times, on a clock of its own."""

    def __init__(self, agent: Agent, clock: ManualClock, gap: float, scale: float) -> None:
        self.agent, self.clock = agent, clock
        self.gap = gap  # seconds between two plays
        self.means = {arm: scale * (1 + 0.1 * k) for k, arm in enumerate(agent.arms)}
        self.rng = random.Random(1)
        self.out: list[tuple[float, int]] = []
        self.times: dict[str, list[tuple[float, float]]] = {"ask": [], "tell": []}

    def run(self, plays: int) -> None:
        """So many asks, and the tells that fall due meanwhile."""
        clock, out = self.clock, self.out
        for _ in range(plays):
            clock.advance(self.gap)
            while out and out[0][0] <= clock.time:
                number = heapq.heappop(out)[1]
                self._timed("tell", self.agent.tell, number)
            play = self._timed("ask", self.agent.ask)
            back = clock.time + self.rng.expovariate(1 / self.means[play.arm])
            heapq.heappush(out, (back, play.id))

    def _timed(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:
        wall, cpu = time.perf_counter(), time.thread_time()
        result = call(*arguments)
        now = time.perf_counter()
        self.times[verb].append((time.thread_time() - cpu, now - wall))
        return result


def made(arms: int, clock: ManualClock, policy: Any = None, **more: Any) -> Agent:
    """An agent with D = 2 s unless said otherwise."""
    given: dict[str, Any] = {"max_delay": 2.0, "payoff": "cost", "seed": 1, "horizon": 10**6} | more
    names = [f"route{k}" for k in range(arms)]
    return Agent(policy, arms=names, clock=clock, **given)


def warmed(traffic: Traffic) -> Traffic:
    """The traffic, once machine code is loaded, with nothing measured yet."""
    traffic.run(WARM)
    for _ in range(600):
        promise = traffic.agent._core.promise  # noqa: SLF001  # a look inside
        if promise is None or promise.over:
            break
        time.sleep(0.1)
    traffic.run(10)
    for times in traffic.times.values():
        times.clear()
    return traffic


def spread(times: Sequence[float]) -> str:
    """Median, percentiles and maximum in microseconds."""
    ordered = sorted(times)
    places = (0.5, 0.99, 0.999, 1.0)
    found = [ordered[min(int(p * len(ordered)), len(ordered) - 1)] * 1e6 for p in places]
    return "".join(f"{x:9.1f}" if x < 1e5 else f"{x:9.0f}" for x in found)


def overhead() -> float:
    """What measuring itself takes, in seconds of processor time."""
    probe = Traffic.__new__(Traffic)
    probe.times = {"none": []}
    for _ in range(20_000):
        probe._timed("none", int)  # noqa: SLF001  # ours
    return sorted(cpu for cpu, _ in probe.times["none"])[10_000]


def choices(plays: int) -> None:
    """Ask and tell in memory, for policies that make sense live."""
    print(f"\nIn memory, processor time in microseconds, {plays} plays, measuring taken off")
    print(f"{'':31s}   ask median      99 %   tell median    99 %   both medians")
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
    own = overhead() * 1e6
    for policy in policies:
        for arms in (10, 100) if policy == policies[0] else (10,):
            clock = ManualClock()
            traffic = warmed(Traffic(made(arms, clock, policy), clock, 0.01, 0.2))
            traffic.run(plays)
            cells = []
            for times in traffic.times.values():
                ordered = sorted(cpu * 1e6 - own for cpu, _ in times)
                cells += [ordered[len(ordered) // 2], ordered[int(0.99 * len(ordered))]]
            name = f"{type(policy).__name__}, {arms} arms"
            both = cells[0] + cells[2]
            print(f"  {name:29s}{''.join(f'{c:12.1f}' for c in cells)}{both:12.1f}", flush=True)


def stalls(folder: Path, plays: int) -> None:
    """How long the slowest calls take, where a state is large and where a file is written."""
    print(f"\nThe slowest calls, microseconds, {plays} plays")
    print(f"{'':44s}   median     99 %   99.9 %      max")
    for days, words in ((0, "D = 2 s"), (1, "D = 1 h, 250 000 plays")):
        for path in (None, folder / f"stalls{days}.db"):
            clock = ManualClock()
            more: dict[str, Any] = {"path": path}
            if path is not None:
                more["durability"] = "normal"
            if days:
                more["max_delay"] = 3600.0
            agent = made(10, clock, **more)
            gap, scale = (3600 / 250_000, 360.0) if days else (0.01, 0.2)
            traffic = Traffic(agent, clock, gap, scale)
            if days:
                traffic.run(250_000)
            warmed(traffic)
            traffic.run(plays)
            where = "in memory" if path is None else "with a file"
            for verb, times in traffic.times.items():
                for place, kind in enumerate(("processor", "wall")):
                    line = spread([pair[place] for pair in times])
                    print(f"  {words + ', ' + where:33s} {verb:4s} {kind:9s}{line}", flush=True)
            agent.close()


def crowd(folder: Path, plays: int) -> None:
    """What has to do with all plays that are out."""
    clock = ManualClock()
    path = folder / "crowd.db"
    more: dict[str, Any] = {"path": path, "durability": "normal", "max_delay": 86_400.0}
    agent = made(10, clock, **more)
    ids = []
    for _ in range(plays):
        clock.advance(0.01)
        ids.append(agent.ask().id)
    print(f"\nWith {plays} plays out, seconds on the wall")
    begin = time.perf_counter()
    for number in ids[:100]:
        agent.cancel(number)
    print(f"  a cancel                      {(time.perf_counter() - begin) / 100:9.6f}")
    begin = time.perf_counter()
    agent.explain()
    print(f"  explain                       {time.perf_counter() - begin:9.3f}")
    before = agent.counts
    store = agent._engine.store  # noqa: SLF001  # the benchmark plays the crash
    assert isinstance(store, SqliteStore)
    store._ended()  # noqa: SLF001
    begin = time.perf_counter()
    agent = made(10, clock, in_flight="keep", **more)
    print(f"  restart after a kill          {time.perf_counter() - begin:9.3f}")
    assert agent.counts == before
    agent.close()
    begin = time.perf_counter()
    agent = made(10, clock, in_flight="keep", **more)
    print(f"  restart after a clean end     {time.perf_counter() - begin:9.3f}")
    agent.close()
    size = path.stat().st_size / 2**20
    print(f"  size of the file              {size:9.1f} MiB")


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


def fact_rate(agent: Agent, threads: int, seconds: float) -> float:
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


def disk(folder: Path, rounds: int) -> None:
    """Facts per second against the disk's own fsync rate."""
    print("\nDurable facts per second, and as a ratio to the disk's own fsync rate")
    cases: list[tuple[Any, int]] = [("full", 1), ("full", 8), ("full", 32), ("normal", 1)]
    agents = {
        (durability, threads): Agent(
            arms=[f"route{k}" for k in range(10)],
            payoff="cost",
            max_delay=2.0,
            seed=1,
            path=folder / f"{durability}{threads}.db",
            durability=durability,
        )
        for durability, threads in cases
    }
    totals = dict.fromkeys(agents, 0.0)
    plain = 0.0
    for _ in range(rounds):
        plain += fsync_rate(folder, 0.5) / rounds
        for case, agent in agents.items():
            totals[case] += fact_rate(agent, case[1], 0.5) / rounds
    print(f"  the disk alone               {plain:9.0f} fsync/s")
    for (durability, threads), rate in totals.items():
        words = f"{durability}, {threads} thread{'s' * (threads > 1)}"
        print(f"  {words:27s}  {rate:9.0f} /s   ratio {rate / plain:6.2f}")
    for agent in agents.values():
        agent.close()


def memory(plays: int) -> None:
    """Resident memory while plays come and go; the history is full after its first million."""
    print(f"\nResident memory over {plays} plays in memory, MiB")
    clock = ManualClock()
    traffic = Traffic(made(10, clock), clock, 0.01, 0.2)
    for step in range(1, 11):
        for _ in range(plays // 10 // 10_000):
            traffic.run(10_000)
            for times in traffic.times.values():
                times.clear()
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        size = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
        print(f"  after {step * plays // 10:9d}  {size:7.1f}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.live", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer plays and rounds")
    parser.add_argument("--memory", action="store_true", help="only memory over ten million plays")
    options = parser.parse_args(arguments)
    if options.memory:
        memory(10_000_000)
        return
    choices(5_000 if options.quick else 50_000)
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        stalls(folder, 5_000 if options.quick else 100_000)
        crowd(folder, 20_000 if options.quick else 100_000)
        disk(folder, 1 if options.quick else 5)


if __name__ == "__main__":
    main()
