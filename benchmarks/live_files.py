"""Agents with a file, for `benchmarks.live`: many plays out, restarts, the speed of the disk."""

import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tarry.live import Agent, ManualClock
from tarry.live.store.sqlite import SqliteStore


def crowd(made: Callable[..., Agent], folder: Path, plays: int) -> None:
    """What has to do with all plays that are out; `made` makes an agent."""
    clock = ManualClock()
    path = folder / "crowd.db"
    more: dict[str, Any] = {"path": path, "durability": "normal", "max_delay": 86_400.0}
    agent = made(10, clock, **more)
    ids = []
    for _ in range(plays):
        clock.advance(0.01)
        ids.append(agent.ask().id)
    print(f"\nWith {plays} plays out, seconds of processor time and on the wall")
    took("a hundred cancels", lambda: [agent.cancel(number) for number in ids[:100]])
    took("explain", agent.explain)
    before = agent.counts
    crash(agent)
    copy = folder / "copy.db"
    for end in ("", "-mark"):
        shutil.copy(f"{path}{end}", f"{copy}{end}")
    keep = more | {"in_flight": "keep"}
    again = took("restart after a kill, plays kept", lambda: made(10, clock, **keep))
    assert again.counts == before
    again.close()
    again = took("restart after a clean end", lambda: made(10, clock, **keep))
    again.close()
    more["path"] = copy
    again = took("restart after a kill, given up", lambda: made(10, clock, **more))
    assert again.counts.censored == before.pending
    again.close()
    size = path.stat().st_size / 2**20
    print(f"  size of the file              {size:9.1f} MiB")


def took(what: str, work: Callable[[], Any]) -> Any:
    """What comes of it, and how long it took."""
    begin, cpu = time.perf_counter(), time.process_time()
    result = work()
    cpu = time.process_time() - cpu
    print(f"  {what:32s}{cpu:9.3f}{time.perf_counter() - begin:9.3f}", flush=True)
    return result


def crash(agent: Agent) -> None:
    """What a kill would do to the file of an agent."""
    store = agent._engine.store  # noqa: SLF001  # the benchmark plays the crash
    assert isinstance(store, SqliteStore)
    store._ended()  # noqa: SLF001  # likewise


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
