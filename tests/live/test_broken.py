"""What users do to agents by mistake: each is refused in one sentence, and nothing is lost."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

import tarry
from tarry.errors import InputError, JournalError
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
