"""The process that `benchmarks.kills` kills: it works with an agent until it dies.

Imports take longer than a life here, so one process imports and then forks a child for each line
that it reads: "full" or "normal". What a child acknowledges it writes down, a line each.
"""

import gc
import os
import random
import sys
import threading
import time
from pathlib import Path
from typing import Any

import tarry
from tarry.live import Agent, Told, restore
from tarry.live.store import sqlite

EVENTS = 400  # of one life; then the child only waits
SNAPSHOT_EVERY = 500
ARMS = ["a", "b", "c"]
MAX_DELAY = 0.3


def say(*words: object) -> None:
    """One line to whoever listens; it arrives whole or not at all."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def opened(path: str, durability: Any) -> Agent:
    """The agent, as both sides open it."""
    return Agent(
        tarry.SurvivalThompson(),
        arms=ARMS,
        payoff="cost",
        max_delay=MAX_DELAY,
        path=path,
        seed=7,
        durability=durability,
        in_flight="keep",
    )


def eager() -> None:
    """Snapshots often, so that many deaths fall into one."""
    sqlite.SNAPSHOT_EVERY = SNAPSHOT_EVERY
    restore.LOOK = 16


def work(agent: Agent, seed: int, budget: Any) -> None:
    """Ask, and tell, cancel or leave."""
    rng = random.Random(seed)
    while next(budget, None) is not None:
        play = agent.ask()
        say("asked", play.id, play.arm)
        time.sleep(rng.random() * 0.002)
        fate = rng.random()
        if fate < 0.6:
            delay = round(rng.random() * 0.2, 6)
            if agent.tell(play.id, delay) is Told.RETURNED:
                say("told", play.id, round(delay * 1e6))
        elif fate < 0.7 and agent.cancel(play.id):
            say("cancelled", play.id)


def have_children(agent: Agent, killer: int) -> None:
    """Fork now and then; the children do to the agent what careless programs do, and end.

    Nobody outlives the killer.
    """
    while Path(f"/proc/{killer}").exists():
        time.sleep(random.random() * 0.1)
        if os.fork() == 0:
            deed = random.randrange(4)
            try:
                if deed == 0:
                    agent.ask()
                elif deed == 1:
                    agent.close()
            except tarry.errors.JournalError:
                pass
            del agent
            gc.collect()
            os._exit(0) if deed == 3 else sys.exit(0)


def live(path: str, durability: str, killer: int) -> None:
    """Work from three threads at once, and never stop by itself."""
    agent = opened(path, durability)
    budget = iter(range(EVENTS))
    for _ in range(3):
        seed = random.randrange(2**32)
        threading.Thread(target=work, args=(agent, seed, budget), daemon=True).start()
    have_children(agent, killer)


def main() -> None:
    """Fork a child for each line, wait for its end, and say so."""
    eager()
    killer = os.getppid()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            random.seed()
            live(sys.argv[1], line.strip(), killer)
            os._exit(0)
        say("born", pid)
        _, status = os.waitpid(pid, 0)
        say("dead", os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
