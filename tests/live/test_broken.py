"""What users do to agents by mistake: each is refused in one sentence, and nothing is lost."""

import math
import os
import socket
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import tarry
from tarry.errors import ConflictError, InputError, JournalError
from tarry.live import Agent, ManualClock, recover


def opened(path: Any = None, policy: Any = None, **more: Any) -> Agent:
    """An agent with D = 2 s."""
    given: dict[str, Any] = {"clock": ManualClock(), "durability": "normal", "seed": 1} | more
    policy = tarry.DelayedUCB() if policy is None else policy
    return Agent(policy, arms=["a", "b"], payoff="cost", max_delay=2.0, path=path, **given)


def refused(kind: type[Exception], words: str, *given: Any, **more: Any) -> None:
    """An agent made so is refused in one sentence with these words."""
    with pytest.raises(kind, match=words) as caught:
        opened(*given, **more)
    text = str(caught.value)
    assert text.endswith(".")
    assert ". " not in text
    assert "\n" not in text


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_followed(there: bool, tmp_path: Path) -> None:
    """The journal and all beside it is at the end of the link, which stays; also a dangling one."""
    real = tmp_path / "real"
    real.mkdir()
    if there:
        (real / "a.db").touch()
    link = tmp_path / "link.db"
    link.symlink_to("real/a.db")
    with opened(link) as agent:
        agent.tell(agent.ask(), 0.5)
        assert link.is_symlink()
        assert {f.name for f in real.iterdir()} >= {"a.db", "a.db-wal", "a.db-mark"}
        refused(JournalError, "in use", real / "a.db")
    assert [f.name for f in tmp_path.iterdir() if f != real] == ["link.db"]
    with opened(real / "a.db") as agent:
        assert agent.counts.returned == 1


def test_a_copy_through_a_dangling_link_is_at_its_end(tmp_path: Path) -> None:
    """`backup` and `recover` leave links what they are."""
    for name in ("copy", "saved"):
        (tmp_path / f"{name}.db").symlink_to(f"real-{name}.db")
    with opened(tmp_path / "a.db") as agent:
        agent.tell(agent.ask(), 0.5)
        agent.backup(tmp_path / "copy.db")
    recover(tmp_path / "a.db", tmp_path / "saved.db")
    for name in ("copy", "saved"):
        assert (tmp_path / f"{name}.db").is_symlink()
        with opened(tmp_path / f"real-{name}.db") as agent:
            assert agent.counts.returned == 1


def test_what_is_no_plain_file_is_left_alone(tmp_path: Path) -> None:
    """A pipe, a socket, a folder, links in a circle, a file with two names: refused, and there."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "one").touch()
    os.link(tmp_path / "one", tmp_path / "two")
    (tmp_path / "circle").symlink_to("circle")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(tmp_path)  # the name of a socket must be short
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
    before = {f.name: f.lstat() for f in tmp_path.iterdir()}
    words = {"pipe": "is a pipe", "folder": "is a folder", "socket": "is a socket"}
    words |= {"one": "2 names", "two": "2 names", "circle": "leads nowhere"}
    for name, said in words.items():
        refused(JournalError, said, tmp_path / name)
    after = {f.name: f.lstat() for f in tmp_path.iterdir()}
    assert {n: (s.st_ino, s.st_mode, s.st_mtime_ns) for n, s in before.items()} == {
        n: (s.st_ino, s.st_mode, s.st_mtime_ns) for n, s in after.items()
    }


@pytest.mark.parametrize("path", [":memory:", "a\0b", b"a.db", 3, ""])
def test_a_path_that_no_file_has(path: Any) -> None:
    """One sentence; ":memory:" is told to be left out."""
    refused(InputError, "leave path out" if path == ":memory:" else "The path is", path)


RULE = """
from typing import NamedTuple
import numpy as np

class Rule(NamedTuple):
    seen: np.ndarray

    def select(self, ledger, plays, row, now, rng):
        return int(self.seen.argmin())

    def started(self, plays, row):
        self.seen[plays.arm[row]] += STEP

class Mine:
    payoffs = ("cost", "reward")

    def start(self, setting):
        return Rule(np.zeros(setting.arms, np.int64))

    def __repr__(self):
        return "Mine()"
"""


def mine(step: int) -> Any:
    """A user's policy, whose code differs by a number."""
    space: dict[str, Any] = {"__name__": "my_rules"}
    exec(RULE.replace("STEP", str(step)), space)  # noqa: S102  # the text above
    return space["Mine"]()


def test_evidence_of_edited_code_is_made_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What a user's rule has learned with other code is not mixed with what it learns now."""
    path = tmp_path / "a.db"
    for step, plays in ((1, 4), (1, 2), (100, 0)):
        caplog.clear()
        with opened(path, mine(step)) as agent:
            for _ in range(plays):
                agent.tell(agent.ask(), 0.5)
            seen = agent._core.open.rule.seen.tolist()
    assert seen == [300, 300]
    assert len(caplog.messages) == 1
    assert "the evidence for Mine was made anew from the last 6 of 6 plays" in caplog.text


class Moody:
    """A policy whose rule raises in `started` while `bad` says so."""

    payoffs = ("cost", "reward")
    bad: ClassVar[list[int]] = []

    def start(self, setting: Any) -> Any:
        """The first arm, always."""
        return MoodyRule(np.zeros(setting.arms, np.int64))


class MoodyRule(NamedTuple):
    """See `Moody`."""

    seen: Any

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> int:
        """The first arm."""
        return 0

    def started(self, plays: Any, row: int) -> None:
        """Fails on bad days."""
        self.seen[0] += 1
        if Moody.bad:
            raise RuntimeError("a bad day")


@pytest.mark.parametrize("durable", [False, True])
def test_a_hook_that_raises_keeps_nobody_from_asking(
    durable: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The play is booked, what the rule did not learn is counted and said once, a file opens."""
    path = tmp_path / "a.db" if durable else None
    clock = ManualClock()
    agent = opened(path, Moody(), clock=clock)
    agent.tell(agent.ask(), 0.5)
    monkeypatch.setattr(Moody, "bad", [1])
    for _ in range(3):
        agent.tell(agent.ask(), 0.5)
    counts = agent.counts
    assert counts[:5] == (4, 4, 0, 0, 0)
    assert (counts.unheard, counts.undecided, counts.repaired) == (3, 0, 0)
    said = [m for m in caplog.messages if "Moody fails in `started` (RuntimeError: a bad" in m]
    assert len(said) == 1
    if path is not None:
        agent.close()
        agent = opened(path, Moody(), clock=clock, in_flight="keep")
        assert agent.counts[:5] == (4, 4, 0, 0, 0)
        assert agent.counts.unheard == 0
    agent.tell(agent.ask(), 0.5)
    assert agent.counts.unheard == (1 if durable else 4)
    agent.close()


def test_a_second_answer_is_named_as_the_user_knows_it(tmp_path: Path) -> None:
    """The id, the delays as they were told, and a failure by its name."""
    agent = opened()
    one, two = agent.ask(), agent.ask()
    agent.tell(one, 0.5)
    agent.fail(two)
    with pytest.raises(ConflictError, match=f"^Play {one.id} was .* 0.5 s before and now with 0.7"):
        agent.tell(one, 0.7)
    with pytest.raises(
        ConflictError, match=f"Play {one.id} was told .* now is said to have failed;"
    ):
        agent.fail(one)
    with pytest.raises(ConflictError, match=f"Play {two.id} failed before and now is told 0.7 s;"):
        agent.tell(two, 0.7)


def test_another_max_delay_is_told_in_seconds(tmp_path: Path) -> None:
    """As it was given."""
    opened(tmp_path / "a.db").close()
    with pytest.raises(JournalError, match=r"max_delay 2 s, but 2\.5 s is given"):
        Agent(tarry.DelayedUCB(), payoff="cost", max_delay=2.5, path=tmp_path / "a.db")


def test_a_delay_that_is_none() -> None:
    """One sentence, which does not repeat a page of digits."""
    agent = opened()
    play = agent.ask()
    for delay in (10**400, 10**5000, True, np.True_, b"1.5", "1", math.nan, -1):
        with pytest.raises(InputError, match=r"The delay is .*; give a number") as caught:
            agent.tell(play, delay)  # type: ignore[arg-type]  # that is the question
        assert len(str(caught.value)) < 150


@pytest.mark.parametrize("says", [math.nan, math.inf, "now", None, 1e13])
def test_a_clock_that_gives_no_time(says: Any, tmp_path: Path) -> None:
    """Refused when the agent is made, and no file is there."""
    refused(InputError, "The clock says", tmp_path / "a.db", clock=lambda: says)
    assert list(tmp_path.iterdir()) == []


def test_a_close_that_fails_says_what_is_lost(tmp_path: Path) -> None:
    """How many facts are not in the file."""
    path = tmp_path / "a.db"
    agent = opened(path, on_store_failure="continue")
    agent.tell(agent.ask(), 0.5)
    path.rename(tmp_path / "b.db")
    agent.tell(agent.ask(), 0.5)
    with pytest.raises(JournalError, match="its latest 2 facts are not written"):
        agent.close()
