"""What users do to agents by mistake: each is refused in one sentence, and nothing is lost."""

import contextlib
import copy
import errno
import gc
import math
import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import tarry
from tarry.errors import ConflictError, InputError, JournalError, LiveError, UnknownPlayError
from tarry.live import Agent, ManualClock, Told, recover


def opened(path: Any = None, policy: Any = None, **more: Any) -> Agent:
    """An agent with D = 2 s."""
    given: dict[str, Any] = {"clock": ManualClock(), "durability": "normal", "seed": 1} | more
    policy = tarry.DelayedUCB() if policy is None else policy
    usual: dict[str, Any] = {"arms": ["a", "b"], "payoff": "cost", "max_delay": 2.0}
    return Agent(policy, path=path, **(usual | given))


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
    with pytest.raises(JournalError, match="closed without its latest 2 facts"):
        agent.close()


def test_the_name_in_a_block_can_be_copied_and_sent() -> None:
    """A copy is the name of the arm; an agent itself is not to be copied."""
    agent = opened(None)
    with agent.play() as route:
        for copied in (copy.copy(route), copy.deepcopy(route), pickle.loads(pickle.dumps(route))):  # noqa: S301
            assert type(copied) is str
            assert copied == route.arm
    with pytest.raises(TypeError, match="make one in each process"):
        pickle.dumps(agent)


@pytest.mark.parametrize("play", ["1", 1.0, True, b"1", None])
def test_what_is_no_id_is_told_so(play: Any) -> None:
    """A float cannot hold every id: another play would be ended."""
    agent = opened(None)
    agent.ask()
    with pytest.raises(UnknownPlayError, match="give what `ask` returned, or its `id`"):
        agent.tell(play)


def test_arms_that_are_no_list() -> None:
    """One sentence."""
    refused(InputError, "arms is 5; give a list of names", None, arms=5)


def test_a_closed_agent_says_that_it_is_closed(tmp_path: Path) -> None:
    """And not that its file is damaged."""
    agent = opened(tmp_path / "a.db")
    agent.tell(agent.ask(), 0.5)
    agent.close()
    for call in (agent.history, agent.ask, lambda: agent.backup(tmp_path / "b.db")):
        with pytest.raises(LiveError, match=r"^The agent is closed; make a new one"):
            call()


def test_a_block_that_nobody_can_leave_is_given_up() -> None:
    """Whatever held it: its play is cancelled when it is collected, and only if it was out."""
    agent = opened()
    stack = contextlib.ExitStack()
    stack.enter_context(agent.play())
    agent.play().__enter__()  # that is the question
    with agent.play():
        pass
    stack.pop_all()
    gc.collect()
    counts = agent.counts
    assert (counts.cancelled, counts.returned, counts.pending) == (2, 1, 0)


def test_a_change_of_arms_that_was_not_written_can_be_tried_again(tmp_path: Path) -> None:
    """While the disk is away the call fails, again and again; then it succeeds, once."""
    path = tmp_path / "a.db"
    agent = opened(path)
    agent.tell(agent.ask(), 0.5)
    for change, name in ((agent.add_arm, "c"), (agent.remove_arm, "a")):
        path.rename(tmp_path / "away.db")
        for _ in range(2):
            with pytest.raises(JournalError, match="cannot be written"):
                change(name)
        (tmp_path / "away.db").rename(path)
        change(name)
        with pytest.raises(InputError):
            change(name)
    agent.close()
    with opened(path, arms=None) as again:
        assert again.arms == ("b", "c")


def test_whoever_asks_after_the_end_is_told_so(tmp_path: Path) -> None:
    """Daemon threads go on when a program ends: the file was closed, not deleted."""
    code = f"""
import atexit, threading, time
said = []
def late():
    try:
        agent.ask()
    except Exception as error:
        print(error, flush=True)
atexit.register(late)
import tarry
agent = tarry.Agent(arms=["a", "b"], payoff="cost", max_delay=2.0, path={str(tmp_path / "a.db")!r})
agent.tell(agent.ask(), 0.5)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    assert done.stdout.endswith("was closed when the program ended.\n")


@pytest.mark.parametrize("jump", [-1e18, 1e18, math.nan])
def test_a_clock_that_leaves_this_world_and_comes_back(jump: float) -> None:
    """Calls meanwhile are refused, and those after it go on."""
    clock = ManualClock()
    agent = opened(clock=clock)
    play = agent.ask()
    clock.time = jump
    with pytest.raises(InputError, match="The clock says"):
        agent.ask()
    with pytest.raises(InputError, match="The clock says"):
        agent.tell(play)
    clock.time = 0.5
    agent.tell(play)
    assert agent.history().times.tolist() == [0.5]
    with pytest.raises(InputError, match="The clock says"), agent.play():
        clock.time = jump


@pytest.mark.parametrize("name", [None, [1], 3, b"a"])
def test_arms_are_called_by_their_names(name: Any) -> None:
    """Nothing is changed, and nothing has to be repaired."""
    agent = opened()
    for change in (agent.add_arm, agent.remove_arm, agent.pause_arm, agent.resume_arm):
        with pytest.raises(InputError):
            change(name)
    agent.tell(agent.ask(), 0.5)
    assert agent.counts.repaired == 0


def test_facts_that_a_new_policy_cannot_learn_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Evidence is made anew for a rule that fails at every play: as many are unheard."""
    clock = ManualClock()
    with opened(tmp_path / "a.db", clock=clock) as agent:
        for _ in range(4):
            agent.tell(agent.ask(), 0.5)
    monkeypatch.setattr(Moody, "bad", [1])
    with opened(tmp_path / "a.db", Moody(), clock=clock) as agent:
        assert agent.counts.unheard == 4
        assert agent.counts.returned == 4


@pytest.mark.parametrize("how", ["tell", "tell by id", "fail", "cancel"])
def test_a_block_whose_end_was_told_to_the_agent_is_over(how: str) -> None:
    """Its own end says nothing more, and takes the place of no exception."""
    agent = opened(clock=None)

    def work() -> None:
        with agent.play() as play:
            if how == "tell by id":
                agent.tell(play.id, 0.3)
            else:
                getattr(agent, how)(play)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    counts = agent.counts
    assert counts.returned + counts.cancelled == 1
    assert (counts.late, counts.conflicts, counts.failed) == (0, 0, how == "fail")


def test_a_play_of_a_block_has_one_answer() -> None:
    """As any other."""
    agent = opened()
    with agent.play() as play:
        play.tell(0.04)
        assert play.tell() is Told.REPEATED
        assert play.tell(0.04) is Told.REPEATED
        assert not play.cancel()
        with pytest.raises(ConflictError):
            play.tell(0.05)
        with pytest.raises(ConflictError):
            play.fail()
    assert agent.counts.returned == 1


def test_a_name_that_is_too_long_is_told_so(tmp_path: Path) -> None:
    """Nothing is left behind."""
    refused(InputError, "at most 240 bytes", tmp_path / ("x" * 250))
    assert list(tmp_path.iterdir()) == []


def test_a_journal_that_finds_no_room_is_not_damaged(tmp_path: Path) -> None:
    """Made where files may not grow: nothing is to be recovered, and no piece is left."""
    code = f"""
import resource, signal, tarry
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
try:
    tarry.Agent(arms=["a"], payoff="cost", max_delay=2.0, path={str(tmp_path / "a.db")!r})
except tarry.errors.JournalError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stderr, done.stdout.count("\n")) == ("", 1)
    assert "cannot be made" in done.stdout
    assert "damaged" not in done.stdout
    assert {file.name for file in tmp_path.iterdir()} <= {"a.db"}
    with opened(tmp_path / "a.db") as agent:
        agent.tell(agent.ask(), 0.5)


def test_a_journal_that_can_only_be_read_is_recovered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that the kernel has made read-only."""
    with opened(tmp_path / "a.db") as agent:
        agent.tell(agent.ask(), 0.5)
    real = os.open

    def read_only(path: Any, flags: int, *more: Any) -> int:
        if str(path).endswith("a.db") and flags & os.O_RDWR:
            raise OSError(errno.EROFS, "Read-only file system")
        return real(path, flags, *more)

    monkeypatch.setattr(os, "open", read_only)
    assert recover(tmp_path / "a.db", tmp_path / "b.db").events >= 2


def test_a_file_that_is_cut_short_in_use_is_not_written_any_more(tmp_path: Path) -> None:
    """Nothing is acknowledged after it, and what was is saved."""
    path = tmp_path / "a.db"
    agent = opened(path)
    for _ in range(20):
        agent.tell(agent.ask(), 0.5)
    os.truncate(path, 4096)
    with pytest.raises(JournalError, match="cut short while it was in use"):
        agent.ask()
    with pytest.raises(JournalError, match="cut short"):
        agent.close()


def test_plays_that_reached_d_are_answers_in_words_too() -> None:
    """Before anybody has asked again."""
    clock = ManualClock()
    agent = opened(clock=clock)
    for _ in range(40):
        play = agent.ask()
        clock.advance(0.01)
        if play.arm == "b":
            agent.tell(play)
    clock.advance(5.0)
    assert agent.explain()["a"].closed > 0
    assert "only 0 answers" not in agent.explain()["a"].why


def test_a_feature_hides_no_column_of_the_history() -> None:
    """Its name is refused."""
    policy = tarry.SurvivalRegression()
    refused(InputError, "'status' is taken", None, policy, features={"status": float})
