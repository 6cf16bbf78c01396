"""The driver as machine code for the desks of an agent, made ready in the background.

An agent begins interpreted and is ready at once. When it has been asked `AFTER` times, so that it
seems worth while, a thread loads the machine code of its rule from the cache on disk; the first
time, another process compiles it into there. The next ask that finds it ready moves all numbers
from lists into arrays, and from then on the same functions run compiled, to the same choices.
Without Numba, and for a user's own rule, all stays interpreted: a user's code may change from one
process to the next, so nothing could be kept of it, and may be wrong, where machine code would
leave half of a change behind.

The environment variable TARRY_COMPILE says "never", or "now" for an agent that is compiled before
it is ready, such as in a server that forks afterwards.
"""

import contextlib
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from tarry.compiled.announce import announced
from tarry.compiled.collector import at_rest
from tarry.compiled.turns import turn
from tarry.live.desk import INTERPRETED, Desk, Steps
from tarry.live.elsewhere import compile_elsewhere, stamp
from tarry.live.maker import Maker
from tarry.policies.driver import (
    book_cancelled,
    book_start,
    book_told,
    settle,
    settle_and_decide,
    settle_decide_and_start,
)

AFTER = 1000  # asks
OPTION = "TARRY_COMPILE"
log = logging.getLogger("tarry")


class Promise:
    """Machine code for the desks of one maker, wanted or there."""

    def __init__(self, maker: Maker) -> None:
        self._maker = maker
        self.steps: Steps | None = None  # once they are ready
        self.over = False  # nothing more is to be expected
        self._asks = 0  # of this process: what an agent did in earlier ones does not count

    def look(self, desks: Sequence[Desk]) -> "Promise | None":
        """To be called at each ask: begin when there were many, and go over when all is ready.

        Returns what to look at next time, None if nothing more is to be expected.
        """
        self._asks += 1
        if not self.over:
            if self._asks > AFTER and not _worker.is_alive():
                _send(self)
            return self
        if self.steps is not None:
            self._maker.switch(desks, self.steps)
        return None

    def fulfil(self, *, aside: bool = True) -> None:
        """Compile, or load; the rule stays interpreted if that cannot be.

        With `aside`, others go on meanwhile and are not to be held up.
        """
        try:
            examples = (*self._maker.examples(), self._maker.random())
            make = steps_aside if aside else compiled_steps
            self.steps = make(examples, apart=self._maker.apart)
        except ImportError:  # no Numba here
            log.debug("Numba is not installed: agents are interpreted.")
        except Exception as error:  # noqa: BLE001  # whatever it is, interpreted it works
            label = type(self._maker.policy).__name__
            why = str(error).partition("\n")[0]
            log.warning("%s is interpreted, since compiling it fails: %s", label, why)
        self.over = True


def promised(maker: Maker) -> Promise | None:
    """The promise of machine code, if it may be given; kept at once if the environment says so."""
    wish = os.environ.get(OPTION, "")
    if wish == "never" or not maker.ours:
        return None
    promise = Promise(maker)
    if wish == "now":
        with announced(maker.examples()[0], "once for this version"):
            promise.fulfil(aside=False)
    return promise


def steps_aside(examples: tuple[Any, ...], *, apart: bool = False) -> Steps:
    """`compiled_steps`, in a way that hardly holds up other threads."""
    with at_rest(), turn:
        from tarry.compiled.cache import cache_directory

        home = cache_directory()
    if home is None:
        return compiled_steps(examples, apart=apart)
    ready = stamp(home, examples, apart=apart)
    if not ready.exists():
        compile_elsewhere(examples, apart=apart)
    with at_rest() if ready.exists() else contextlib.nullcontext():
        return compiled_steps(examples, apart=apart)


def compiled_steps(examples: tuple[Any, ...], *, apart: bool = False) -> Steps:
    """The functions of the driver as machine code for a rule, ledger, plays, ages and numbers.

    Plays that others have made are started apart from where they were decided on.
    """
    rule, ledger, plays, ages, rng = examples
    state = rule, ledger, plays
    one = (*state, ages, 1, 1, rng)
    wanted: dict[Callable[..., Any], tuple[Any, ...]] = {
        settle: (*state, ages, 0, 0),
        book_told: (*state, ages, 1, 0, 1, rng),
        book_cancelled: (*state, ages, 1, 0, 0, 1, rng),
    }
    if apart or hasattr(rule, "phase"):  # between a choice and a start the ledger may begin anew
        wanted |= {settle_and_decide: one, book_start: (*state, 1, 0, 1)}
    else:
        wanted |= {settle_decide_and_start: one}
    with turn:  # also of what is imported here for the first time
        from tarry.compiled.entry import entry_point
        from tarry.compiled.teach import admit_modules, never_inline
        from tarry.randomness import RARE

        never_inline(*RARE)
        admit_modules("tarry.policies", "tarry.ledger", "tarry.plays", "tarry.randomness")
    made = {function: entry_point(function, *examples) for function, examples in wanted.items()}
    return Steps(*(made.get(function, function) for function in INTERPRETED))


# One thread works for all agents of a process, while there is something to do. It is a daemon: how
# a process ends meanwhile is seen to in `tarry.compiled.turns`.
_wanted: deque[Promise] = deque()
_worker = threading.Thread()


def _send(promise: Promise) -> None:
    """Have this promise fulfilled. In a forked child the thread of the parent is gone."""
    global _worker  # noqa: PLW0603  # one per process
    if promise not in _wanted:
        _wanted.append(promise)
    _worker = threading.Thread(target=_work, name="tarry-compile", daemon=True)
    _worker.start()


def _work() -> None:
    with contextlib.suppress(IndexError):  # nothing left to do
        while True:
            _wanted.popleft().fulfil()
