"""Damage is noticed and named, what is whole is saved, and files of others are left alone."""

import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.live.cases import arm_of, at_rest, crash, snapshot_every, store_of

import tarry
from tarry.errors import InputError, JournalError
from tarry.live import Agent, ManualClock, recover
from tarry.live.store import schema, wal

ARMS = ["fra", "ams", "lon"]


def opened(path: Path, clock: ManualClock | None = None, **more: Any) -> Agent:
    """An agent on `path` with D = 2 s."""
    given: dict[str, Any] = {
        "arms": ARMS,
        "payoff": "cost",
        "max_delay": 2.0,
        "seed": 3,
        "durability": "normal",
        "in_flight": "keep",
    }
    policy = more.pop("policy", tarry.DelayedUCB())
    return Agent(policy, path=path, clock=clock or ManualClock(1000.0), **(given | more))


def go_on(agent: Agent, clock: ManualClock, plays: int) -> list[str]:
    """Some plays; two of five stay out; returns the arms."""
    chosen = []
    for k in range(plays):
        play = agent.ask()
        chosen.append(play.arm)
        clock.advance(0.03)
        if k % 5 < 3:
            agent.tell(play.id, 0.01 * (1 + agent.arms.index(play.arm)))
    return chosen


def abandoned(folder: Path, plays: int) -> tuple[Path, list[str]]:
    """The files of a journal whose process died, with a log that was not folded in."""
    clock = ManualClock()
    agent = opened(folder / "live.db", clock)
    chosen = go_on(agent, clock, plays)
    at_rest(agent)
    copy = folder / "died.db"
    for end in ("", "-wal", "-mark"):
        shutil.copy(folder / f"live.db{end}", folder / f"died.db{end}")
    agent.close()
    return copy, chosen


def copy_of(path: Path, folder: Path) -> Path:
    """A journal with all its files in a folder of its own."""
    folder.mkdir()
    for end in ("", "-wal", "-mark"):
        if Path(f"{path}{end}").exists():
            shutil.copy(f"{path}{end}", folder / f"a.db{end}")
    return folder / "a.db"


def one_sentence(error: BaseException) -> bool:
    """Whether a message is one."""
    return str(error).endswith(".") and ". " not in str(error)


def check_saved(path: Path, new: Path, chosen: list[str]) -> int:
    """Recovery gives a journal that opens and holds a run of plays from the first one on."""
    saved = recover(path, new)
    agent = opened(new)
    asked = agent.counts.asked
    assert [arm_of(agent, n) for n in range(1, asked + 1)] == chosen[:asked]
    assert bool(saved.lost) == (asked < len(chosen) or saved.lost != "")
    agent.ask()
    agent.close()
    return saved.events


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.75, 0.95])
def test_a_truncated_file_is_named_and_its_good_part_saved(tmp_path: Path, share: float) -> None:
    """One sentence; the recovered journal holds a run of facts from the first one on."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock)
    chosen = go_on(agent, clock, 2500)
    crash(agent)
    path = tmp_path / "a.db"
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(JournalError) as error:
        opened(path)
    assert one_sentence(error.value)
    events = check_saved(path, tmp_path / "saved.db", chosen)
    assert (share - 0.4) * 4000 < events <= 4000


def test_a_journal_cut_short_keeps_its_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a long journal is cut, what is there is saved, with or without a snapshot."""
    snapshot_every(2000, monkeypatch)
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock, remembered=100)
    chosen = go_on(agent, clock, 3500)
    crash(agent)
    content = (tmp_path / "a.db").read_bytes()
    reached = []
    for k in range(1, 9):
        path = tmp_path / f"cut{k}.db"
        path.write_bytes(content[: len(content) * k // 9])
        try:
            saved = recover(path, tmp_path / f"saved{k}.db")
        except JournalError as error:
            assert "Nothing can be saved" in str(error)  # noqa: PT017  # at some cuts
            reached.append(0)
            continue
        agent = opened(tmp_path / f"saved{k}.db")
        assert saved.lost
        assert agent.counts.asked <= len(chosen)
        agent.close()
        reached.append(saved.events)
    assert sum(events > 150 for events in reached) >= 6
    assert sum(events > 1000 for events in reached) >= 2


@pytest.mark.parametrize("seed", range(2))
def test_damage_anywhere_is_named_or_harmless(tmp_path: Path, seed: int) -> None:
    """Cut or flipped at random, in file or log: opened whole, or one sentence and a good part."""
    path, chosen = abandoned(tmp_path, 150)
    rng = random.Random(seed)
    truth = len(chosen)
    named = 0
    for k in range(20):
        broken = copy_of(path, tmp_path / f"{k}")
        victim = Path(f"{broken}{rng.choice(['', '-wal'])}")
        body = bytearray(victim.read_bytes())
        if rng.random() < 0.4:
            body = body[: rng.randrange(len(body))]
        else:
            body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
        victim.write_bytes(body)
        try:
            agent = opened(broken)
        except JournalError as error:
            named += 1
            said = str(error)
            assert one_sentence(error)  # noqa: PT017  # many places, some of them fatal
            assert str(broken) in said
            try:
                check_saved(broken, broken.with_name("saved.db"), chosen)
            except JournalError as worse:
                assert "Nothing can be saved" in str(worse)  # noqa: PT017  # where all is in the log
            continue
        assert agent.counts.asked == truth
        agent.close()
    assert named > 4


def test_every_flipped_bit_of_a_log_is_noticed(tmp_path: Path) -> None:
    """Also without the mark: SQLite would end at the damage without a word."""
    path, chosen = abandoned(tmp_path, 40)
    size = Path(f"{path}-wal").stat().st_size
    rng = random.Random(1)
    for k in range(20):
        broken = copy_of(path, tmp_path / f"{k}")
        Path(f"{broken}-mark").unlink()
        body = bytearray(Path(f"{broken}-wal").read_bytes())
        body[rng.randrange(32, size)] ^= 1 << rng.randrange(8)
        Path(f"{broken}-wal").write_bytes(body)
        with pytest.raises(JournalError, match="write-ahead log is unreadable"):
            opened(broken)
        assert check_saved(broken, broken.with_name("saved.db"), chosen) > 0


@pytest.mark.parametrize("change", ["missing", "empty", "older file"])
def test_lost_facts_are_missed(tmp_path: Path, change: str) -> None:
    """A log that is gone or an old copy in place of the file: the mark knows what there was."""
    clock = ManualClock()
    agent = opened(tmp_path / "live.db", clock)
    go_on(agent, clock, 10)
    agent.close()
    old = (tmp_path / "live.db").read_bytes()
    agent = opened(tmp_path / "live.db", clock)
    go_on(agent, clock, 30)
    for end in ("", "-wal", "-mark"):
        shutil.copy(tmp_path / f"live.db{end}", tmp_path / f"a.db{end}")
    agent.close()
    log = tmp_path / "a.db-wal"
    if change == "missing":
        log.unlink()
    elif change == "empty":
        log.write_bytes(b"")
    else:
        log.unlink()
        (tmp_path / "a.db").write_bytes(old)
    with pytest.raises(JournalError, match="facts that were acknowledged are missing"):
        opened(tmp_path / "a.db")
    saved = recover(tmp_path / "a.db", tmp_path / "b.db")
    assert "missing" in saved.lost
    assert opened(tmp_path / "b.db").counts.asked == 10


def test_checksums_of_a_log_are_those_of_sqlite(tmp_path: Path) -> None:
    """A log as SQLite writes it is found whole, frame by frame."""
    db = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE t (x)")
    for k in range(30):
        db.execute("INSERT INTO t VALUES (?)", ("x" * 100 * k,))
    found = wal.look(tmp_path / "a.db")
    frames = (Path(f"{tmp_path / 'a.db'}-wal").stat().st_size - 32) // 4120
    assert found == (frames, frames, "")
    db.close()
    assert wal.look(tmp_path / "a.db") == (0, 0, "")


@pytest.mark.parametrize("victim", ["", "-wal"])
@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_files_that_vanish_while_running_are_missed(tmp_path: Path, victim: str, how: str) -> None:
    """Nothing is acknowledged into a file that nobody will ever read."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock)
    agent.ask()
    path = tmp_path / f"a.db{victim}"
    if how == "deleted":
        path.unlink()
    else:
        shutil.copy(path, tmp_path / "other")
        (tmp_path / "other").replace(path)
    with pytest.raises(JournalError, match="deleted or replaced while it was in use") as error:
        agent.ask()
    assert one_sentence(error.value)
    with pytest.raises(JournalError, match="deleted or replaced"):
        agent.close()


def test_a_lost_snapshot_is_recovered_from_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two snapshots are kept, and the facts since the older one."""
    snapshot_every(50, monkeypatch)
    path = tmp_path / "a.db"
    clock = ManualClock()
    agent = opened(path, clock)
    go_on(agent, clock, 200)
    before = crash(agent)
    db = sqlite3.connect(path)
    db.execute("UPDATE snapshots SET crc = 1 WHERE seq = (SELECT max(seq) FROM snapshots)")
    db.commit()
    db.close()
    with pytest.raises(JournalError, match="snapshot"):
        opened(path, clock)
    assert recover(path, tmp_path / "b.db").lost == ""
    agent = opened(tmp_path / "b.db", clock)
    assert crash(agent) == before


def test_files_of_others_are_refused_and_left_alone(tmp_path: Path) -> None:
    """Text, another database, a folder, a later format: one sentence each, not a byte changed."""
    text = tmp_path / "text"
    text.write_text("hello " * 500)
    other = tmp_path / "other.db"
    db = sqlite3.connect(other)
    db.execute("CREATE TABLE things (a)")
    db.close()
    later = tmp_path / "later.db"
    opened(later).close()
    db = sqlite3.connect(later)
    db.execute("PRAGMA user_version = 99")
    db.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for path, says in (
        (text, "no journal of tarry"),
        (other, "something else"),
        (later, "format 99"),
        (tmp_path / "no" / "where.db", "cannot be opened"),
        (tmp_path, "is a folder"),
    ):
        with pytest.raises(JournalError, match=says) as error:
            opened(path)
        assert one_sentence(error.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    with pytest.raises(JournalError, match="Nothing can be saved"):
        recover(text, tmp_path / "new.db")
    with pytest.raises(JournalError, match="There is no journal"):
        recover(tmp_path / "nothing.db", tmp_path / "new.db")
    with pytest.raises(InputError, match="exists"):
        recover(other, later)


def test_a_crafted_journal_runs_nothing_and_stays_small(tmp_path: Path) -> None:
    """A trigger, a zip bomb, a number of arms beyond all bounds: refused in one sentence."""
    for k, craft in enumerate((_trigger, _bomb, _many)):
        path = tmp_path / f"{k}.db"
        agent = opened(path)
        agent.ask()
        agent.close()
        db = sqlite3.connect(path, isolation_level=None)
        craft(db)
        db.close()
        code = (
            "import resource, sys, tarry\n"
            "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\n"
            "try:\n"
            "    tarry.Agent(tarry.DelayedUCB(), payoff='cost', max_delay=2.0, path=sys.argv[1])\n"
            "except tarry.errors.JournalError as error:\n"
            "    print(error)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        assert "is damaged" in done.stdout
        assert done.stdout.count("\n") == 1


def _trigger(db: sqlite3.Connection) -> None:
    db.execute("CREATE TRIGGER t AFTER INSERT ON facts BEGIN DELETE FROM facts; END")


def _bomb(db: sqlite3.Connection) -> None:
    import zlib

    # One piece that stands for itself, many times over: quicker made than compressed.
    size, pieces = 1 << 24, 80
    tool = zlib.compressobj(9, wbits=-15)
    piece = tool.compress(bytes(size)) + tool.flush(zlib.Z_FULL_FLUSH)
    adler = size * pieces % 65521 << 16 | 1  # of zeros
    body = b"\x78\xda" + piece * pieces + tool.flush() + adler.to_bytes(4, "big")
    assert zlib.decompressobj().decompress(body, 100) == bytes(100)
    db.execute("UPDATE snapshots SET body = ?, crc = ?", (body, zlib.crc32(body)))


def _many(db: sqlite3.Connection) -> None:
    import zlib

    from tarry.live.packed import packed, unpacked

    seq, body = db.execute("SELECT seq, body FROM snapshots ORDER BY id DESC").fetchone()
    meta, columns = unpacked(schema.inflated(body))
    meta["desks"]["open"][0] = 10**12
    meta["oldest"] = 2**60
    new = zlib.compress(packed(meta, columns))
    db.execute("DELETE FROM snapshots")
    row = (seq, 0, 1, new, zlib.crc32(new))
    db.execute("INSERT INTO snapshots VALUES (NULL, ?, ?, ?, ?, ?)", row)


def test_recovery_refuses_a_journal_in_use(tmp_path: Path) -> None:
    """Also from the same process; the agent goes on, and still nobody else can open the file."""
    path = tmp_path / "a.db"
    agent = opened(path)
    agent.ask()
    with pytest.raises(JournalError, match="in use"):
        recover(path, tmp_path / "b.db")
    shutil.copyfile(path, tmp_path / "copy.db")  # closes the file, and with it the locks of POSIX
    code = (
        "import sys, tarry\n"
        "try:\n"
        "    tarry.Agent(payoff='cost', max_delay=2.0, path=sys.argv[1])\n"
        "except tarry.errors.JournalError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert "in use by another agent or process" in done.stdout
    agent.ask()
    agent.close()
    assert opened(path).counts.asked == 2


def test_a_backup_is_made_while_running(tmp_path: Path) -> None:
    """The copy opens by itself, with all that was acknowledged; the original goes on."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock)
    go_on(agent, clock, 100)
    play = agent.ask()
    agent.backup(tmp_path / "b.db")
    agent.ask()
    copy = opened(tmp_path / "b.db", clock)
    assert copy.counts.asked == 101
    copy.tell(play)
    assert copy.counts.returned == agent.counts.returned + 1
    copy.close()
    with pytest.raises(InputError, match="exists"):
        agent.backup(tmp_path / "b.db")
    with pytest.raises(JournalError, match="cannot be copied"):
        agent.backup(tmp_path / "no" / "where.db")
    agent.close()
    (tmp_path / "b.db").replace(tmp_path / "a.db")  # a restored backup is not a lost log
    assert opened(tmp_path / "a.db", clock).counts.asked == 101
    with pytest.raises(JournalError, match="has no file"):
        Agent(arms=ARMS, payoff="cost", max_delay=2.0).backup(tmp_path / "c.db")


def test_bad_arguments_do_no_harm(tmp_path: Path) -> None:
    """A delay beyond all bounds counts as D; a name that no file can hold is refused."""
    clock = ManualClock()
    agent = opened(tmp_path / "a.db", clock)
    agent.tell(agent.ask(), delay=1e13)
    with pytest.raises(InputError, match="no file can hold"):
        agent.add_arm("\ud800")
    with pytest.raises(InputError, match="no file can hold"):
        opened(tmp_path / "b.db", arms=["a", "\udfff"])
    clock.time = 1e300
    with pytest.raises(InputError, match="The clock says"):
        agent.ask()
    clock.time = float("nan")
    with pytest.raises(InputError, match="The clock says"):
        agent.ask()
    clock.time = 5.0
    agent.add_arm("new")
    assert store_of(agent).trouble == ""
    before = crash(agent)
    agent = opened(tmp_path / "a.db", ManualClock(5.0), arms=None)
    assert agent.counts.returned == 1
    assert crash(agent) == before
