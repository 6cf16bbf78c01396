"""One agent in many processes: `python -m benchmarks.postgres`.

    plays       durable plays per second (an ask and a tell each) by processes and arms, next to
                what the database commits bare: the same number of connections, each inserting facts
                in batches of the size that was seen, in the same run and in turn
    asks        how long a durable ask takes with one caller and with all
    staleness   at 1000 and at 100 plays/s in all: how old a fact of another process is when it is
                folded, and how long ago a process that decides has last looked at the log

The time of an fdatasync on the disk of the database is measured beside every figure. Wanted are
5000 plays per second with 4 processes, or half of what the bare database commits; 3 fdatasyncs and
3 ms for an ask; facts at most 50 ms old, 99 of 100 times.
"""

import argparse
import multiprocessing
import os
import statistics
import threading
import time
from pathlib import Path
from typing import Any

import psycopg

from tarry.demo.database import Database
from tarry.live import Agent

CALLERS = 32  # in each process
SECONDS = 4.0
ROUNDS = 3
NAME = "bench"
WANTED = 5000  # plays per second, with 4 processes
HALF = 0.5  # or so much of what the database commits


def fdatasync(folder: Path, times: int = 60) -> float:
    """The median time of one, in milliseconds."""
    path = folder / "sync"
    found = []
    with path.open("wb", buffering=0) as file:
        for _ in range(times):
            file.write(b"x" * 4096)
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            found.append(time.perf_counter() - begun)
    path.unlink()
    return statistics.median(found) * 1e3


def opened(url: str, arms: int) -> Agent:
    """A client."""
    names = [f"arm {k}" for k in range(arms)]
    return Agent(arms=names, payoff="cost", max_delay=2.0, path=url, name=f"{NAME} {arms}", seed=1)


class Player:
    """A client, and what it saw."""

    def __init__(self, url: str, arms: int, callers: int, rate: float) -> None:
        self.agent = opened(url, arms)
        self.callers, self.rate = callers, rate
        engine: Any = self.agent._engine  # noqa: SLF001
        self.engine: Any = engine
        self.deliver = engine._deliver  # noqa: SLF001
        self.ages: list[float] = []
        self.sizes: list[int] = []
        self.asks: list[float] = []
        self.looks: list[float] = []
        engine.store.line._take = self.take  # noqa: SLF001

    def take(self, facts: Any, own: Any) -> None:
        """Facts are folded: how old are those of others?"""
        self.deliver(facts, own)
        now = self.engine.ticker.now()
        if own:
            self.sizes.append(len(own))
        self.ages.extend((now - fact[1]) / 1e3 for k, fact in enumerate(facts) if k not in own)

    def call(self, k: int, end: float) -> None:
        """What one caller does."""
        due = time.perf_counter() + (k / self.rate if self.rate else 0.0)
        while time.perf_counter() < end:
            if self.rate:
                time.sleep(max(due - time.perf_counter(), 0.0))
                due += self.callers / self.rate
            line = self.engine.store.line
            self.looks.append((line.local() - line._told) * 1e3)  # noqa: SLF001
            begun = time.perf_counter()
            play = self.agent.ask()
            self.asks.append(time.perf_counter() - begun)
            self.agent.tell(play, 0.01 + (len(self.asks) % 100) / 1000)

    def run(self, seconds: float) -> Any:
        """All callers for so long: plays, times of asks, ages, batches, processor time, looks."""
        self.ages, self.sizes, self.asks, self.looks = [], [], [], []
        end = time.perf_counter() + seconds
        threads = [threading.Thread(target=self.call, args=(k, end)) for k in range(self.callers)]
        used = time.process_time()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        used = time.process_time() - used
        size = statistics.fmean(self.sizes or [1])
        return len(self.asks), self.asks, self.ages, size, used, self.looks


def player(pipe: Any, url: str, arms: int, callers: int, rate: float) -> None:
    """A process: on each word it plays for so long, and says what it saw."""
    mine = Player(url, arms, callers, rate)
    mine.agent.tell(mine.agent.ask(), 0.1)
    pipe.send("ready")
    while seconds := pipe.recv():
        pipe.send(mine.run(seconds))
    mine.agent.close()


def bare(pipe: Any, url: str) -> None:
    """A process: on each word it inserts batches of so many facts, each in a commit."""
    with psycopg.connect(url, autocommit=True) as db:
        pipe.send("ready")
        number = os.getpid() << 40  # numbers that no other process uses
        while True:
            seconds, size = pipe.recv()
            if not seconds:
                return
            end, done = time.perf_counter() + seconds, 0
            while time.perf_counter() < end:
                times = "{" + ",".join(["5"] * size) + "}"
                db.execute(
                    "INSERT INTO bare SELECT 1, 1, %s + o, t, o, 0, NULL "
                    "FROM unnest(%s::bigint[]) WITH ORDINALITY AS f(t, o)",
                    (number, times),
                    prepare=True,
                )
                number += size
                done += size
            pipe.send(done)


class Crew:
    """Processes that do as they are told."""

    def __init__(self, target: Any, count: int, *arguments: Any) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.pipes: list[Any] = []
        self.processes: list[Any] = []
        for _ in range(count):
            mine, theirs = spawn.Pipe()
            process = spawn.Process(target=target, args=(theirs, *arguments))
            process.start()
            self.pipes.append(mine)
            self.processes.append(process)
        for pipe in self.pipes:
            assert pipe.recv() == "ready"

    def run(self, word: Any) -> list[Any]:
        """What each of them says to it."""
        for pipe in self.pipes:
            pipe.send(word)
        return [pipe.recv() for pipe in self.pipes]

    def end(self, word: Any) -> None:
        """Let them go."""
        for pipe in self.pipes:
            pipe.send(word)
        for process in self.processes:
            process.join(20)


def percentile(values: list[float], share: float) -> float:
    """Of a list that may be empty."""
    found = sorted(values)
    return found[min(int(share * len(found)), len(found) - 1)] if found else float("nan")


def throughput(database: Database, processes: int, arms: int, seconds: float, rounds: int) -> float:
    """Plays per second, next to the bare database; their ratio."""
    url = database.url
    crew, plain = Crew(player, processes, url, arms, CALLERS, 0.0), Crew(bare, processes, url)
    plays, facts, asks, syncs, size = [], [], [], [], 1.0
    crew.run(min(seconds, 1.0))
    for _ in range(rounds):
        found = crew.run(seconds)
        plays.append(sum(one[0] for one in found) / seconds)
        asks += [ask for one in found for ask in one[1]]
        size = statistics.fmean(one[3] for one in found)
        syncs.append(fdatasync(database.folder))
        facts.append(sum(plain.run((seconds, max(round(size), 1)))) / seconds)
    crew.end(0.0)
    plain.end((0.0, 0))
    ratio = statistics.median(p / (f / 2) for p, f in zip(plays, facts, strict=True))
    enough = "reached" if statistics.median(plays) >= WANTED or ratio >= HALF else "missed"
    print(
        f"{processes} processes, {arms:3d} arms: {statistics.median(plays):6.0f} plays/s, "
        f"bare {statistics.median(facts) / 2:6.0f} in batches of {size:.0f} facts, "
        f"ratio {ratio:.2f}; ask {percentile(asks, 0.5) * 1e3:5.1f} ms (p50) "
        f"{percentile(asks, 0.99) * 1e3:5.1f} ms (p99); "
        f"fdatasync {statistics.median(syncs):.2f} ms; load {os.getloadavg()[0]:.0f}; "
        f"{WANTED} plays/s or a ratio of {HALF} {enough}",
        flush=True,
    )
    return ratio


def latency(database: Database, seconds: float) -> None:
    """A durable ask where nobody else asks."""
    crew = Crew(player, 1, database.url, 3, 1, 0.0)
    sync = fdatasync(database.folder)
    found = crew.run(seconds)[0][1]
    sync = (sync + fdatasync(database.folder)) / 2
    crew.end(0.0)
    median = percentile(found, 0.5) * 1e3
    print(
        f"one caller: ask {median:.2f} ms (p50) {percentile(found, 0.99) * 1e3:.2f} ms (p99); "
        f"fdatasync {sync:.2f} ms; allowed 3 of them + 3 ms = {3 * sync + 3:.2f} ms"
    )


def staleness(database: Database, processes: int, rate: float, seconds: float) -> None:
    """How old facts of others are when they are folded."""
    crew = Crew(player, processes, database.url, 3, 8, rate / processes)
    crew.run(1.0)
    found = crew.run(seconds)
    crew.end(0.0)
    ages = [age for one in found for age in one[2]]
    looks = [look for one in found for look in one[5]]
    plays = sum(one[0] for one in found) / seconds
    used = sum(one[4] for one in found) / sum(one[0] for one in found)
    print(
        f"{processes} processes, {plays:.0f} plays/s: staleness {percentile(ages, 0.5):.1f} ms "
        f"(p50) {percentile(ages, 0.99):.1f} ms (p99); a decision has looked "
        f"{percentile(looks, 0.5):.1f} ms (p50) {percentile(looks, 0.99):.1f} ms (p99) before; "
        f"{used * 1e6:.0f} us of a processor per play in the clients; "
        f"fdatasync {fdatasync(database.folder):.2f} ms; load {os.getloadavg()[0]:.0f}",
        flush=True,
    )


def prepare(database: Database) -> None:
    """Tables of ours, and one for the bare database."""
    opened(database.url, 3).close()
    with psycopg.connect(database.url, autocommit=True) as db:
        db.execute("CREATE TABLE bare (LIKE tarry.fact INCLUDING ALL)")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--arms", type=int, nargs="+", default=[3, 30, 300])
    given = parser.parse_args()
    os.environ["TARRY_COMPILE"] = "now"
    with Database({"max_connections": 100}) as database:
        prepare(database)
        latency(database, given.seconds)
        for rate in (1000.0, 100.0):
            staleness(database, max(given.processes), rate, given.seconds)
        for arms in given.arms:
            for processes in given.processes:
                throughput(database, processes, arms, given.seconds, given.rounds)


if __name__ == "__main__":
    main()
