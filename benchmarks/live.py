"""How long an agent takes: `python -m benchmarks.live`.

    choices     ask and tell in memory, by policy and by number of arms
    contexts    the same where requests have eight features
    stalls      median, 99th and 99.9th percentile and maximum, with and without a file, at D = 2 s
                and at D = 1 h with 250 000 plays in time, and the first asks after a pause
    loading     the slowest calls while machine code comes in, in a process of its own
    crowd       cancel, explain, restart with 100 000 plays out
    disk        durable facts per second, against the disk's own fsync rate
    memory      (with --memory) growth over ten million plays

Times are those of the calling thread on a processor, and on the wall where that is said: on a busy
machine the second shows the other programs as well. Full garbage collections that fall into a
call are part of its time, and said.
"""

import argparse
import gc
import heapq
import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tarry
from benchmarks.live_files import crowd, disk
from tarry.live import Agent, ManualClock, machine

PARTS = ("loading", "choices", "contexts", "stalls", "crowd", "disk")
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
        self.requests: Sequence[dict[str, Any] | None] = [None]  # contexts, in turn

    def run(self, plays: int) -> None:
        """So many asks, and the tells that fall due meanwhile."""
        clock, out = self.clock, self.out
        for number in range(plays):
            clock.advance(self.gap)
            while out and out[0][0] <= clock.time:
                self._timed("tell", self.agent.tell, heapq.heappop(out)[1])
            request = self.requests[number % len(self.requests)]
            play = self._timed("ask", self.agent.ask, context=request)
            back = clock.time + self.rng.expovariate(1 / self.means[play.arm])
            heapq.heappush(out, (back, play.id))

    def _timed(self, verb: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        wall, cpu = time.perf_counter(), time.thread_time()
        result = call(*arguments, **named)
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
    head(f"In memory, processor time in microseconds, {plays} plays, measuring taken off")
    policies = [
        tarry.SurvivalThompson(),
        tarry.RegimeThompson(),
        tarry.SurvivalUCB(),
        tarry.DelayedThompson(),
        tarry.DelayedUCB(),
        tarry.CensoredUCB(),
        tarry.OPSE(),
        tarry.SEPK(),
        tarry.BDSE(keep_history=True),
    ]
    for policy in policies:
        for arms in (10, 100) if policy in policies[:2] else (10,):
            clock = ManualClock()
            traffic = warmed(Traffic(made(arms, clock, policy), clock, 0.01, 0.2))
            traffic.run(plays)
            medians(f"{type(policy).__name__}, {arms} arms", traffic)


def contexts(plays: int) -> None:
    """The same with eight numbers per request."""
    head(f"With 8 features, processor time in microseconds, {plays} plays; asked for: 150 in all")
    for policy in (tarry.SurvivalRegression(), tarry.LinearThompson(), tarry.LinUCB()):
        medians(f"{type(policy).__name__}, 10 arms", requested(policy, plays))


def context_medians(policy: Any, plays: int) -> float:
    """Microseconds of an ask with a context and a tell, the sum of the medians."""
    cells = cells_of(requested(policy, plays))
    return cells[0] + cells[2]


def requested(policy: Any, plays: int) -> Traffic:
    """Requests with five numbers and one of three texts, which makes eight features."""
    features: dict[str, Any] = {f"x{k}": float for k in range(5)} | {"device": ["a", "b", "c"]}
    rng = random.Random(2)
    clock = ManualClock()
    traffic = Traffic(made(10, clock, policy, features=features), clock, 0.01, 0.2)
    traffic.requests = [
        {f"x{k}": rng.gauss(0, 1) for k in range(5)} | {"device": rng.choice("abc")}
        for _ in range(1000)
    ]
    warmed(traffic).run(plays)
    return traffic


def head(title: str) -> None:
    """Title and columns of a table of medians."""
    print(f"\n{title}")
    print(f"{'':31s}   ask median      99 %   tell median    99 %   both medians")


def medians(name: str, traffic: Traffic) -> None:
    """One line about the calls of some traffic."""
    cells = cells_of(traffic)
    both = cells[0] + cells[2]
    print(f"  {name:29s}{''.join(f'{c:12.1f}' for c in cells)}{both:12.1f}", flush=True)


def cells_of(traffic: Traffic) -> list[float]:
    """Median and 99 % of ask and of tell, in microseconds, what measuring takes taken off."""
    own = overhead() * 1e6
    cells = []
    for times in traffic.times.values():
        ordered = sorted(cpu * 1e6 - own for cpu, _ in times)
        cells += [ordered[len(ordered) // 2], ordered[int(0.99 * len(ordered))]]
    return cells


class Collections:
    """Full collections of Python's garbage collector, in seconds of processor time each."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self._begin = 0.0
        gc.callbacks.append(self._note)

    def _note(self, phase: str, about: dict[str, int]) -> None:
        if about["generation"] == 2:
            if phase == "start":
                self._begin = time.thread_time()
            else:
                self.times.append(time.thread_time() - self._begin)

    def told(self) -> str:
        """How many there were since the last time, and the longest."""
        times, self.times = self.times, []
        return f"{len(times)} full collections" + (
            f", the longest {max(times) * 1e3:.0f} ms" if times else ""
        )


def stalls(folder: Path, plays: int) -> None:
    """How long the slowest calls take, where a state is large and where a file is written."""
    print(f"\nThe slowest calls, microseconds, {plays} plays")
    print(f"{'':44s}   median     99 %   99.9 %      max")
    collections = Collections()
    for long, words in ((False, "D = 2 s"), (True, "D = 1 h, 250 000 plays")):
        for path in (None, folder / f"stalls{int(long)}.db"):
            clock = ManualClock()
            more: dict[str, Any] = {"path": path}
            if path is not None:
                more["durability"] = "normal"
            if long:
                more["max_delay"] = 3600.0
            agent = made(10, clock, **more)
            gap, scale = (3600 / 250_000, 360.0) if long else (0.01, 0.2)
            traffic = Traffic(agent, clock, gap, scale)
            if long:
                traffic.run(250_000)
            warmed(traffic)
            collections.told()
            traffic.run(plays)
            name = f"{words}, {'in memory' if path is None else 'with a file'}"
            for verb, times in traffic.times.items():
                show(name, verb, times)
            print(f"  {'':33s} meanwhile {collections.told()}", flush=True)
            pause(traffic, name)
            agent.close()


def show(name: str, verb: str, times: list[tuple[float, float]]) -> None:
    """Two lines about these calls."""
    for place, kind in enumerate(("processor", "wall")):
        line = spread([pair[place] for pair in times])
        print(f"  {name:33s} {verb:4s} {kind:9s}{line}", flush=True)


def pause(traffic: Traffic, name: str) -> None:
    """All plays that are out grow older than D, and then it goes on."""
    traffic.clock.advance(2 * traffic.agent.max_delay)
    traffic.out.clear()
    for times in traffic.times.values():
        times.clear()
    traffic.run(1000)
    show(name, "late", traffic.times["ask"])


def loading(plays: int) -> None:
    """Calls at a rate of some hundreds per second while machine code is loaded from the cache."""
    agent = Agent(arms=[f"route{k}" for k in range(10)], payoff="cost", max_delay=2.0, seed=1)
    collections, times = Collections(), []
    for number in range(plays):
        begin, cpu = time.perf_counter(), time.thread_time()
        agent.tell(agent.ask())
        times.append((time.thread_time() - cpu, time.perf_counter() - begin))
        if number > machine.AFTER:
            time.sleep(0.001)
    over = agent._core.promise is None  # noqa: SLF001  # a look inside
    print(
        f"\nWhile machine code is loaded, {plays} plays; it was{'' if over else ' not yet'} there"
    )
    show("D = 2 s, in memory", "both", times)
    print(f"  {'':33s} meanwhile {collections.told()}", flush=True)


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
    parser.add_argument("--only", choices=PARTS, help="one part")
    options = parser.parse_args(arguments)
    if options.memory:
        memory(10_000_000)
        return
    quick = options.quick
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        parts: dict[str, Callable[[], None]] = {
            "loading": lambda: loading(3_000),
            "choices": lambda: choices(5_000 if quick else 50_000),
            "contexts": lambda: contexts(5_000 if quick else 50_000),
            "stalls": lambda: stalls(folder, 5_000 if quick else 100_000),
            "crowd": lambda: crowd(made, folder, 20_000 if quick else 100_000),
            "disk": lambda: disk(folder, 1 if quick else 5),
        }
        for part in [options.only] if options.only else PARTS:
            parts[part]()


if __name__ == "__main__":
    main()
