"""Kill processes that share an agent, and their database: `python -m benchmarks.shared_kills`.

Several workers ask, tell and cancel from three threads each, through one PostgreSQL server, and
print what was acknowledged. Now and then one of them gets `kill -9` and another one takes its
place; now and then the server ends without notice and is started again. In the end

    every acknowledged fact is in the table, once, and counts as what was acknowledged;
    the replicas of the workers that live, one from the newest snapshot, and one folded from all
    facts of the table are the same.
"""

import argparse
import contextlib
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tarry
from tarry.arrays import arrays_of
from tarry.demo.database import Database
from tarry.errors import JournalError
from tarry.live import Agent
from tarry.live.desk import INTERPRETED
from tarry.live.facts import CANCEL, RETURN, START
from tarry.live.register import Columns
from tarry.live.replica import Replica
from tarry.live.restore import restored_replica
from tarry.live.store.postgres import store as store_module

WORKERS = 4
THREADS = 3
NAME = "victims"
ARMS = ["a", "b", "c"]


def opened(url: str) -> Agent:
    """A client of the agent."""
    return Agent(arms=ARMS, payoff="cost", max_delay=60.0, path=url, name=NAME, seed=3)


def evidence(replica: Replica) -> dict[str, Any]:
    """All that a replica has learned, in a form that can be compared."""
    core = replica.core
    core.fold()
    register = core.register
    found: dict[str, Any] = {
        "seq": replica.seq,
        "numbers": dict(replica.numbers),
        "counts": tuple(core.counts(core.now)),
        "now": core.now,
        "arms": [(arm.name, arm.paused, arm.slot) for arm in core.arms.values()],
    }
    plays = register.columns(register.oldest, register.last + 1)
    for field, column in zip(Columns._fields, plays, strict=True):
        found[field] = column.tolist()
    for place, desk in enumerate(core.desks()):
        for part in (desk.rule, desk.ledger):
            for path, array, role in arrays_of(part):
                if role is not None and role.evidence:  # in plain numbers: of lists or of arrays
                    found[f"{place} {type(part).__name__} {path}"] = np.asarray(array).tolist()
    return found


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """In words, what of the evidence differs."""
    said = []
    for field in sorted(one.keys() | other.keys()):
        a, b = one.get(field), other.get(field)
        if a == b:
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            a, b = sorted(a.items()), sorted(b.items())
        if not isinstance(a, list | tuple) or not isinstance(b, list | tuple) or len(a) != len(b):
            sizes = [f" ({len(x)} of them)" if isinstance(x, list | tuple) else "" for x in (a, b)]
            said.append(f"{field}: {a!r:.80}{sizes[0]} and {b!r:.80}{sizes[1]}")
            continue
        places = [k for k, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
        shown = ", ".join(f"[{k}] {a[k]!r} and {b[k]!r}" for k in places[:5])
        said.append(f"{field}: {len(places)} of {len(a)} differ: {shown}")
    return said


def replica_of(agent: Agent) -> Replica:
    """A look inside."""
    engine: Any = agent._engine  # noqa: SLF001
    replica: Replica = engine._replica  # noqa: SLF001
    return replica


# --- a worker -------------------------------------------------------------------------------------


def say(*words: object) -> None:
    """A line that comes in one piece, whoever else writes."""
    os.write(1, (" ".join(map(str, (os.getpid(), *words))) + "\n").encode())


def work(agent: Agent, over: threading.Event, seed: int) -> None:
    """Ask, tell and cancel, and say what was acknowledged."""
    rng = random.Random(seed)
    while not over.is_set():
        try:
            play = agent.ask()
            say("asked", play.id, play.arm)
            chance = rng.random()
            if chance < 0.8:
                ticks = rng.randrange(1, 1_000_000)
                agent.tell(play, ticks / 1e6)
                say("told", play.id, ticks)
            elif chance < 0.9:
                agent.cancel(play)
                say("cancelled", play.id)
        except JournalError:  # the server is away for longer than one waits
            time.sleep(0.05)


def live(url: str, folder: Path) -> None:
    """A worker, until it is killed or asked to end; its evidence is left in the folder."""
    over, all_rest = threading.Event(), threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    signal.signal(signal.SIGUSR1, lambda *_: all_rest.set())
    agent = opened(url)
    threads = [
        threading.Thread(target=work, args=(agent, over, os.getpid() * 10 + k), daemon=True)
        for k in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    say("born")
    while not over.wait(0.1):
        pass
    for thread in threads:
        thread.join(20)
    engine: Any = agent._engine  # noqa: SLF001
    engine.store.line._used = -1e9  # noqa: SLF001  # nothing is written any more
    engine.store.line.wait(engine.store.appended, 60.0, through_trouble=True)
    say("rests")
    while not all_rest.wait(0.05):
        pass
    last = last_fact(url)
    while replica_of(agent).seq < last:
        time.sleep(0.01)
    found = evidence(replica_of(agent))
    (folder / f"worker {os.getpid()}").write_bytes(pickle.dumps(found))
    say("ends", "compiled" if replica_of(agent).core.maker.steps is not INTERPRETED else "")
    os._exit(0)


def nursery(url: str, folder: Path) -> None:
    """Fork a worker for each line; forking is quicker than starting anew."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    tarry.Agent(arms=["x"], payoff="cost", max_delay=1.0).ask()  # all is imported
    while True:
        line = os.read(0, 1)
        if not line:
            return
        if os.fork() == 0:
            live(url, folder)


# --- the campaign ---------------------------------------------------------------------------------


class Campaign:
    """Workers, and what they have said."""

    def __init__(self, url: str, folder: Path) -> None:
        self.said: dict[int, list[list[str]]] = {}
        self.alive: list[int] = []
        self._heard = threading.Condition()
        self._child = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.shared_kills", "--nursery", url, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            pid, *words = line.split()
            with self._heard:
                self.said.setdefault(int(pid), []).append(words)
                if words[0] == "born":
                    self.alive.append(int(pid))
                self._heard.notify_all()

    def until(self, condition: Callable[[], bool], patience: float = 60.0) -> None:
        """Return when this is so."""
        with self._heard:
            assert self._heard.wait_for(condition, patience), "the workers do nothing"

    def bear(self) -> None:
        """One more worker."""
        assert self._child.stdin is not None
        count = len(self.alive)
        self._child.stdin.write("x")
        self._child.stdin.flush()
        self.until(lambda: len(self.alive) > count)

    def acknowledged(self) -> int:
        """How many facts were."""
        return sum(
            words[0] in ("asked", "told", "cancelled")
            for said in self.said.values()
            for words in said
        )

    def kill(self, rng: random.Random) -> None:
        """One of them, some moments after some acknowledgements."""
        pid = rng.choice(self.alive)
        said, more = len(self.said[pid]), rng.randrange(20)
        self.until(lambda: len(self.said[pid]) >= said + more)
        time.sleep(rng.random() * 0.01)
        os.kill(pid, signal.SIGKILL)
        with self._heard:
            self.alive.remove(pid)

    def all_say(self, word: str) -> bool:
        """Whether this is the latest word of all that live."""
        return all(self.said[pid][-1][0] == word for pid in self.alive)

    def end(self) -> None:
        """The nursery, and all in it, those that are not born yet as well."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        self._listener.join()
        for pipe in (self._child.stdin, self._child.stdout):
            assert pipe is not None
            pipe.close()


def campaign(
    kills: int, crashes: int, seed: int = 0, *, workers: int = WORKERS, report: bool = False
) -> int:
    """So many kills and crashes; how many acknowledgements there were."""
    rng = random.Random(seed)
    store_module.SNAPSHOT_EVERY = 2000  # so that some are written and read
    with Database() as database, tempfile.TemporaryDirectory() as folder:
        opened(database.url).close()
        victims = Campaign(database.url, Path(folder))
        try:
            for _ in range(workers):
                victims.bear()
            due = sorted(rng.sample(range(kills), crashes))
            for number in range(kills):
                victims.kill(rng)
                if number in due:
                    database.crash()
                    database.start()
                victims.bear()
                if report and (number + 1) % 20 == 0:
                    print(f"{number + 1} kills, {victims.acknowledged()} acknowledged", flush=True)
            check_replicas(victims, database.url, Path(folder))
            check_facts(victims, database.url)
            return victims.acknowledged()
        finally:
            victims.end()


def check_replicas(victims: Campaign, url: str, folder: Path) -> None:
    """Those of the workers that live are what follows from the table."""
    for sent, answer in ((signal.SIGTERM, "rests"), (signal.SIGUSR1, "ends")):
        for pid in victims.alive:
            os.kill(pid, sent)
        victims.until(lambda word=answer: victims.all_say(word))  # type: ignore[misc]
    found = {path.name: pickle.loads(path.read_bytes()) for path in folder.iterdir()}  # noqa: S301  # our own
    assert len(found) == len(victims.alive)
    with opened(url) as agent:
        found["one from the newest snapshot"] = evidence(replica_of(agent))
        engine: Any = agent._engine  # noqa: SLF001
        folded = restored_replica(tarry.SurvivalThompson(), engine.store, None)
        for fact in facts_of(url, engine.store.agent):
            folded.fold(fact)
    right = evidence(folded)
    wrong = [
        f"{name} is not what follows from the table:\n  " + "\n  ".join(said)
        for name, one in found.items()
        if (said := differences(one, right))
    ]
    assert not wrong, "\n".join(wrong)


def last_fact(url: str) -> int:
    """The number of the latest fact."""
    import psycopg

    with psycopg.connect(url) as db:
        row = db.execute("SELECT seq FROM tarry.agent WHERE name = %s", (NAME,)).fetchone()
        assert row is not None
        return int(row[0])


def facts_of(url: str, agent: int) -> list[Any]:
    """The table."""
    import psycopg

    with psycopg.connect(url) as db:
        return db.execute(
            "SELECT kind, time, play, value, name FROM tarry.fact WHERE agent = %s ORDER BY seq",
            (agent,),
        ).fetchall()


def check_facts(victims: Campaign, url: str) -> None:
    """All that was acknowledged is in the table, once."""
    starts: dict[int, int] = {}
    ends: dict[int, tuple[int, int | None]] = {}
    for kind, _, play, value, _ in facts_of(url, 1):
        if kind == START:
            assert play not in starts
            starts[play] = value
        elif play is not None:
            ends.setdefault(play, (kind, value))
    for said in victims.said.values():
        for word, *rest in said:
            if word == "asked":
                assert ARMS[starts[int(rest[0])]] == rest[1]
            elif word == "told":
                assert ends[int(rest[0])] == (RETURN, int(rest[1]))
            elif word == "cancelled":
                assert ends[int(rest[0])][0] == CANCEL


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--crashes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nursery", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not 0 <= given.crashes <= given.kills:
        parser.error("give at least as many kills as crashes, and none below 0")
    if given.nursery:
        store_module.SNAPSHOT_EVERY = 2000
        nursery(given.nursery[0], Path(given.nursery[1]))
        return
    begun = time.monotonic()
    count = campaign(given.kills, given.crashes, given.seed, report=True)
    took = time.monotonic() - begun
    print(
        f"{given.kills} kills and {given.crashes} crashes of the server in {took:.0f} s: all "
        f"{count} acknowledged facts are there, once, and all replicas are the same."
    )


if __name__ == "__main__":
    main()
