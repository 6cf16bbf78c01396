"""Kill an agent again and again, and damage its files: `python -m benchmarks.kills`.

Kills: a process asks, tells and cancels from three threads and forks children that touch the agent
and end; it gets `kill -9` at a random moment. Then the file must open, hold all that was
acknowledged, and be in the state that follows from its facts alone.

Damages: a journal is cut short or one of its bits is flipped, in the file or in the write-ahead
log. Then it must open whole, or be refused in one sentence and give up its good part.

Both go by rounds; with --keep, what was done is written to a file after each round, and a later
call goes on from there.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tarry
from benchmarks import victim
from tarry.errors import JournalError
from tarry.live import Agent, recover, restore, state
from tarry.live.core import Core
from tarry.live.facts import apply
from tarry.live.history import due_chunks
from tarry.live.plays import Status
from tarry.live.restore import new_core
from tarry.live.store.lock import read_mark
from tarry.live.store.schema import read_facts
from tarry.live.store.sqlite import SqliteStore

ROUND = 50  # kills of one file, or damages of copies of one


class Mirror:
    """The same facts applied to a core that never saw a snapshot or a crash."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.core = new_core(tarry.SurvivalThompson(), settings)
        self.core.promise = None
        self.seq = 0

    def follow(self, store: SqliteStore) -> None:
        """Apply what is new in the file."""
        facts, trouble = read_facts(store._second, self.seq)  # noqa: SLF001  # a look inside
        assert not trouble
        for fact in facts:
            apply(self.core, fact)
            self.seq += 1
            if self.seq % restore.LOOK == 0:
                for _ in due_chunks(self.core):
                    pass
        assert self.seq == store.appended


def one_life(child: Any, lines: Iterator[str], durability: str, rng: random.Random) -> list[Any]:
    """Start a child, kill it some moments after some acknowledgements, and return all of those.

    The moment is counted in acknowledgements, not in seconds, so that a busy machine sees as much
    as an idle one.
    """
    child.stdin.write(f"{durability}\n")
    child.stdin.flush()
    word, pid = next(lines).split()
    assert word == "born"
    last = rng.randrange(25)
    moment = threading.Timer(rng.random() * 0.01, os.kill, (int(pid), signal.SIGKILL))
    said: list[Any] = []
    if last == 0:
        moment.start()
    for line in lines:
        words = line.split()
        if words[0] == "dead":
            assert int(words[1]) == -signal.SIGKILL
            break
        said.append(words)
        if len(said) == last:
            moment.start()
    moment.join()
    return said


def check_life(said: list[Any], agent: Agent) -> None:
    """Every acknowledged fact is in the restored state."""
    core: Core = agent._core  # noqa: SLF001  # a look inside
    register, statuses = core.register, list(Status)
    for word, play, *rest in said:
        row = agent._engine.number_of(int(play)) & register.mask  # noqa: SLF001  # likewise
        status = statuses[register.status[row]]
        if word == "asked":
            assert core.slots[register.slot[row]].name == rest[0]
        elif word == "told":
            assert (status, register.delay[row]) == (Status.RETURNED, int(rest[0]))
        else:
            assert status is Status.CANCELLED
    counts = agent.counts
    assert counts.asked == sum(counts[1:5])


def kill(path: str, times: int, durability: str, report: int = 0, seed: int = 0) -> int:
    """So many lives and deaths on one file; how many acknowledgements there were."""
    victim.eager()
    rng = random.Random(f"{durability} {seed}")
    acknowledged = 0
    mirror: Mirror | None = None
    command = [sys.executable, str(Path(victim.__file__)), path]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        lines = iter(child.stdout)
        for life in range(1, times + 1):
            said = one_life(child, lines, durability, rng)
            acknowledged += len(said)
            agent = victim.opened(path, durability)
            store = agent._engine.store  # noqa: SLF001  # a look inside
            assert isinstance(store, SqliteStore)
            mirror = mirror or Mirror(store.settings)
            check_life(said, agent)
            mirror.follow(store)
            same = state.dump(agent._core) == state.dump(mirror.core)  # noqa: SLF001  # likewise
            assert same, f"life {life}: another state than its facts lead to"
            store._ended()  # noqa: SLF001  # no farewell either
            if report and life % report == 0:
                print(f"  {life} kills, {acknowledged} acknowledgements, nothing lost", flush=True)
        child.stdin.close()
    return acknowledged


def abandoned(folder: Path, durability: str) -> tuple[Path, list[str]]:
    """The files of a process that was killed, and the arms of the plays it acknowledged.

    It is killed until all facts of its files were acknowledged. Of one that dies between a commit
    and the mark of it, damage may cost the facts that nobody was told of, without a word.
    """
    path = folder / "died.db"
    arms: list[str] = []
    rng = random.Random(3)
    command = [sys.executable, str(Path(victim.__file__)), str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(20):
            said = one_life(child, iter(child.stdout), durability, rng)
            arms += [rest[0] for word, _, *rest in said if word == "asked"]
        while not _all_acknowledged(path, folder / "looked at"):
            said = one_life(child, iter(child.stdout), durability, rng)
            arms += [rest[0] for word, _, *rest in said if word == "asked"]
        child.stdin.close()
    return path, arms


def _all_acknowledged(path: Path, folder: Path) -> bool:
    """Whether the mark of a journal has its latest fact."""
    copy = _copied(path, folder)
    db = sqlite3.connect(copy)
    latest = db.execute("SELECT max(seq) FROM facts").fetchone()[0]
    db.close()
    shutil.rmtree(folder)
    mark = read_mark(path)
    return mark is not None and mark.facts == latest


def damage(path: Path, times: int, folder: Path, seed: int, report: int = 0) -> Counter[str]:
    """Damage copies of a journal; how often it opened whole, was refused and saved, or lost."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    truth = _count(path, folder / "truth")
    for k in range(1, times + 1):
        copy = _copied(path, folder / f"{k}")
        what = _broken(copy, rng)
        try:
            agent = victim.opened(str(copy), "normal")
        except JournalError as error:
            text = str(error)
            assert text.endswith("."), text
            assert ". " not in text, text
            found[f"{what}: refused, {_saved(copy, truth)}"] += 1
        else:
            asked = agent.counts.asked
            agent._engine.store._ended()  # type: ignore[attr-defined]  # noqa: SLF001  # at once
            assert asked == truth, f"{truth - asked} plays lost without a word"
            found[f"{what}: opened whole"] += 1
        shutil.rmtree(copy.parent)
        if report and k % report == 0:
            print(f"  {k} damages", flush=True)
    return found


def _count(path: Path, folder: Path) -> int:
    agent = victim.opened(str(_copied(path, folder)), "normal")
    asked = agent.counts.asked
    agent.close()
    return asked


def _copied(path: Path, folder: Path) -> Path:
    folder.mkdir()
    for end in ("", "-wal", "-mark"):
        if Path(f"{path}{end}").exists():
            shutil.copy(f"{path}{end}", folder / f"a.db{end}")
    return folder / "a.db"


def _broken(copy: Path, rng: random.Random) -> str:
    """Cut or flip something; what was done."""
    end = rng.choice(["", "-wal"])
    victim_file = Path(f"{copy}{end}")
    body = bytearray(victim_file.read_bytes())
    cut = rng.random() < 0.5
    if cut:
        body = body[: rng.randrange(len(body))]
    else:
        body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
    victim_file.write_bytes(body)
    return f"{'log' if end else 'file'} {'cut' if cut else 'flipped'}"


def _saved(copy: Path, truth: int) -> str:
    """What recovery makes of a refused journal; what it wrote must open."""
    try:
        saved = recover(copy, copy.with_name("saved.db"))
    except JournalError as error:
        if "Nothing can be saved" not in str(error):
            raise
        return "nothing left to save"
    agent = victim.opened(str(copy.with_name("saved.db")), "normal")
    asked = agent.counts.asked
    agent.ask()
    agent.close()
    assert asked <= truth
    assert saved.lost or asked == truth
    return "all saved" if asked == truth else "saved up to the damage"


class Kept:
    """What was done so far, in a file if one is given."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.done: dict[str, Any] = {"kills": {}, "acknowledged": {}, "damages": 0, "found": {}}
        if path is not None and path.exists():
            self.done = json.loads(path.read_text(encoding="utf-8"))

    def save(self) -> None:
        """Write it down."""
        if self.path is not None:
            self.path.write_text(json.dumps(self.done, indent=1), encoding="utf-8")


def kill_on(folder: Path, kept: Kept, durability: str, times: int) -> None:
    """Kill until there were so many kills, a file for each round."""
    kills, acknowledged = kept.done["kills"], kept.done["acknowledged"]
    done = kills.setdefault(durability, 0)
    while done < times:
        now = min(ROUND, times - done)
        path = str(folder / f"{durability}{done}.db")
        said = kill(path, now, durability, seed=done)
        done = kills[durability] = done + now
        acknowledged[durability] = acknowledged.get(durability, 0) + said
        kept.save()
        total = acknowledged[durability]
        print(f"  {done} kills, {total} acknowledgements, none lost, replay equal", flush=True)


def damage_on(folder: Path, kept: Kept, times: int) -> None:
    """Damage until there were so many damages, a journal for each round."""
    while kept.done["damages"] < times:
        done = kept.done["damages"]
        place = folder / f"damaged{done}"
        place.mkdir()
        path, _ = abandoned(place, "normal")
        now = min(ROUND, times - done)
        found = Counter(kept.done["found"]) + damage(path, now, place, done)
        kept.done |= {"damages": done + now, "found": dict(found)}
        kept.save()
        print(f"  {done + now} damages", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Kill and damage, and print what came of it."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.kills", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--kills", type=int, default=1000, help="in all; default 1000")
    parser.add_argument("--damages", type=int, default=500, help="default 500")
    parser.add_argument("--keep", type=Path, help="a file to go on from")
    options = parser.parse_args(arguments)
    os.environ["TARRY_COMPILE"] = "never"  # a life is shorter than loading machine code takes
    kept = Kept(options.keep)
    with tempfile.TemporaryDirectory(prefix="tarry-") as name:
        for durability in ("full", "normal"):
            print(f"{options.kills // 2} kills with durability {durability}", flush=True)
            kill_on(Path(name), kept, durability, options.kills // 2)
        print(f"{options.damages} damages", flush=True)
        damage_on(Path(name), kept, options.damages)
    for what, count in sorted(kept.done["found"].items()):
        print(f"  {count:4d}  {what}")


if __name__ == "__main__":
    main()
