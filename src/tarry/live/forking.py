"""What becomes of agents when their process is forked.

Before a fork each agent is brought to rest, so that the child gets no half of a change and no lock
that another thread held. In the child, an agent with a file is refused from then on, since the
file is the parent's; one without goes on by itself, as another agent.
"""

import logging
import os
import threading
import weakref
from typing import Protocol


class Forkable(Protocol):
    """What is asked of an agent around a fork."""

    def before_fork(self) -> None:
        """Come to rest."""

    def after_fork_in_parent(self) -> None:
        """Go on."""

    def after_fork_in_child(self) -> None:
        """This is another process now."""


_alive: "weakref.WeakSet[Forkable]" = weakref.WeakSet()
_resting: list[Forkable] = []
_turn = threading.Lock()  # one fork at a time


def watch(agent: Forkable) -> None:
    """See to this agent at every fork."""
    _alive.add(agent)


def _before() -> None:
    _turn.acquire()
    for agent in list(_alive):
        agent.before_fork()
        _resting.append(agent)


def _in_parent() -> None:
    while _resting:
        _resting.pop().after_fork_in_parent()
    _turn.release()


def _in_child() -> None:
    while _resting:
        agent = _resting.pop()
        try:
            agent.after_fork_in_child()
        except Exception:  # the others go on all the same; this one is refused from now on
            logging.getLogger("tarry").exception("An agent cannot go on in a child of a fork.")
    _turn.release()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
