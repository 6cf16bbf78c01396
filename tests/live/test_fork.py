"""A forked child never touches its parent's file, never hangs, and is told what to do."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tarry

HEAD = """
import gc, os, signal, sys, threading, time, traceback
import tarry
path = sys.argv[1]

def opened(path=path, **more):
    return tarry.Agent(tarry.DelayedUCB(), arms=["a", "b"], payoff="cost", max_delay=60.0,
                       path=path, durability="normal", in_flight="keep", **more)
"""


def run(code: str, path: Path) -> list[str]:
    """Run a program in a fresh interpreter; the lines that it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HEAD + textwrap.dedent(code), str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | {"TARRY_COMPILE": "never"},  # of which a busy machine would say something
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


ENDINGS = {
    "ends": "sys.exit(0)",
    "deletes": "del agent; gc.collect(); sys.exit(0)",
    "closes": "agent.close(); sys.exit(0)",
    "prints": "assert 'of the parent process' in repr(agent); sys.exit(0)",
    "asks": "ask(); sys.exit(0)",
    "ends at once": "os._exit(0)",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_lost_by_a_child(ending: str, tmp_path: Path) -> None:
    """However a child ends, what its parent acknowledged before and after is there after a kill."""
    code = f"""
    agent = opened()
    def ask():
        try:
            agent.ask()
        except tarry.errors.JournalError as error:
            print(error, flush=True)
    for _ in range(200):
        agent.tell(agent.ask())
    pid = os.fork()
    if pid == 0:
        {ENDINGS[ending]}
    os.waitpid(pid, 0)
    for _ in range(50):
        agent.tell(agent.ask())
    if os.fork() == 0:
        {ENDINGS[ending]}
    os.wait()
    print("acknowledged", agent.counts.returned, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
    """
    lines = run(code, tmp_path / "a.db")
    assert lines[-1] == "acknowledged 250"
    if ending == "asks":
        assert "belongs to the parent; open an agent after the fork" in lines[0]
        assert lines[0].count(". ") == 0
    with tarry.Agent(
        tarry.DelayedUCB(),
        arms=["a", "b"],
        payoff="cost",
        max_delay=60.0,
        path=tmp_path / "a.db",
        in_flight="keep",
    ) as again:
        assert again.counts.returned == 250


def test_a_child_born_amid_other_threads_does_not_hang(tmp_path: Path) -> None:
    """Twenty forks while threads ask and tell: each child is refused or goes on, and ends."""
    code = """
    agent, free = opened(), opened(None)
    stop = threading.Event()
    def work(agent):
        while not stop.is_set():
            agent.tell(agent.ask())
            time.sleep(0.0002)  # who forks is to have a turn
    threads = [threading.Thread(target=work, args=(a,)) for a in (agent, agent, free, free)]
    for thread in threads:
        thread.start()
    ends = set()
    for _ in range(20):
        pid = os.fork()
        if pid == 0:
            try:
                try:
                    agent.tell(agent.ask())
                except tarry.errors.JournalError:
                    free.tell(free.ask())
                    counts = free.counts
                    os._exit(7 if counts.asked == sum(counts[1:5]) else 1)
            except BaseException:
                traceback.print_exc()
            os._exit(2)
        ends.add(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    stop.set()
    for thread in threads:
        thread.join()
    print(ends)
    """
    assert run(code, tmp_path / "a.db") == ["{7}"]


def test_a_copy_without_a_file_is_another_agent(tmp_path: Path) -> None:
    """In a child, an agent in memory goes on with ids and randomness of its own."""
    code = """
    agent = tarry.Agent(arms=list("abcdefgh"), payoff="cost", max_delay=60.0, seed=1)
    before = agent.ask()
    read, write = os.pipe()
    if os.fork() == 0:
        agent.tell(before)
        plays = [agent.ask() for _ in range(60)]
        os.write(write, f"{plays[0].id} {''.join(p.arm for p in plays)}".encode())
        os._exit(0)
    os.wait()
    theirs, arms = os.read(read, 1000).decode().split()
    mine = [agent.ask() for _ in range(60)]
    print(arms != "".join(p.arm for p in mine))
    try:
        agent.tell(int(theirs))
    except tarry.errors.UnknownPlayError:
        print("unknown")
    agent.tell(before)
    """
    assert run(code, tmp_path / "a.db") == ["True", "unknown"]


def test_an_agent_that_cannot_be_kept_goes_on_and_disturbs_no_other(tmp_path: Path) -> None:
    """In a child, also one with a rule that is no NamedTuple; and the child can fork again."""
    code = """
    class Turns:
        def select(self, ledger, plays, row, now, rng):
            return row % 2

    class Unmovable:
        payoffs, origin, needs_horizon, shareable = ("cost",), "ours", False, False

        def start(self, setting):
            return Turns()

    def made(**more):
        return tarry.Agent(arms=["a", "b"], payoff="cost", max_delay=60.0, **more)

    agents = [made() for _ in range(5)] + [made(policy=Unmovable())]
    agents += [made() for _ in range(5)]
    sys.stdout.flush()
    for _ in range(2):
        if os.fork() != 0:
            os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
        print(sum(agent.ask().arm in "ab" for agent in agents), flush=True)
    """
    assert run(code, tmp_path / "a.db") == ["11", "11"]


def test_the_file_is_free_when_the_parent_ends(tmp_path: Path) -> None:
    """A child that lives on does not hold the lock of its parent."""
    code = """
    agent = opened()
    agent.ask()
    if os.fork() == 0:
        os.close(1)
        time.sleep(3)
        os._exit(0)
    agent.close()
    again = opened()
    print(again.counts.asked)
    """
    assert run(code, tmp_path / "a.db") == ["1"]


def test_every_verb_is_refused_in_a_child(tmp_path: Path) -> None:
    """Also when other threads were inside an ask or at the disk: one sentence, and no waiting."""
    code = """
    import asyncio
    agent = opened()
    mine = agent.ask()
    stop = threading.Event()
    def work():
        while not stop.is_set():
            agent.tell(agent.ask())
    verbs = {
        "ask": agent.ask, "tell": lambda: agent.tell(mine), "tell 7": lambda: agent.tell(7),
        "fail": lambda: agent.fail("x"), "cancel": lambda: agent.cancel(7),
        "add": lambda: agent.add_arm("c"), "remove": lambda: agent.remove_arm("a"),
        "pause": lambda: agent.pause_arm("a"), "resume": lambda: agent.resume_arm("a"),
        "arms": lambda: agent.arms, "counts": lambda: agent.counts, "explain": agent.explain,
        "history": agent.history, "backup": lambda: agent.backup(path + ".copy"),
        "block": lambda: agent.play().__enter__(),
        "async": lambda: asyncio.run(agent.ask_async()),
    }
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for k in range(6):
        time.sleep(0.01)
        if os.fork() == 0:
            signal.alarm(20)
            for name, verb in verbs.items():
                try:
                    verb()
                    print(name, "did something", flush=True)
                except tarry.errors.JournalError as error:
                    if "belongs to the parent" not in str(error):
                        print(name, error, flush=True)
            agent.close()
            os._exit(0)
        if os.wait()[1]:
            print("a child died", flush=True)
    stop.set()
    for thread in threads:
        thread.join()
    agent.close()
    """
    assert run(code, tmp_path / "a.db") == []
    assert not (tmp_path / "a.db.copy").exists()


def test_a_signal_handler_may_come_while_the_disk_is_written(tmp_path: Path) -> None:
    """An ask of its own is refused or done, a tell is done, and nothing waits for itself."""
    code = """
    os.environ["TARRY_COMPILE"] = "never"
    agent = opened()
    signal.alarm(40)  # the end, if it hangs
    out, refused = [], 0
    def handler(*_):
        global refused
        try:
            if out:
                agent.tell(out.pop())
            out.append(agent.ask())
        except tarry.errors.LiveError as error:
            assert "by a signal handler or a finaliser" in str(error), error
            refused += 1
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0003)
    signal.signal(signal.SIGVTALRM, handler)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.0003)
    done, end = 0, time.process_time() + 0.5
    while time.process_time() < end:
        agent.tell(agent.ask())
        done += 1
    signal.signal(signal.SIGVTALRM, signal.SIG_IGN)
    agent.tell(agent.ask())
    counts = agent.counts
    assert counts.asked == sum(counts[1:5]), counts
    assert counts.returned >= done, (counts, done)
    assert agent._engine.store.durable == agent._engine.store.appended
    print(done > 50, refused > 2, flush=True)
    agent.close()
    """
    assert run(code, tmp_path / "a.db") == ["True True"]
