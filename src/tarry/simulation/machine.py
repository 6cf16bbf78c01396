"""The compiled loop: which rules can use it, and what a compilation tells the user."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from numba.core.errors import NumbaError

from tarry.arrays import FloatArray
from tarry.errors import PolicyError
from tarry.ledger import Ledger
from tarry.plays import Plays, SteadyAges
from tarry.problems.world import World
from tarry.randomness import Random
from tarry.simulation import bridge
from tarry.simulation.calendar import Calendar
from tarry.simulation.loop import Tape, run_steps


def enter_loop(
    rule: Any,
    ledger: Ledger,
    plays: Plays,
    ages: SteadyAges,
    calendar: Calendar,
    world: World,
    gaps: FloatArray,
    tape: Tape,
    rng: Random,
    last: int,
) -> None:
    """The loop as Python calls it.

    The loop counts no references. Here they are counted, once a call, so that what was handed in
    is given back.
    """
    run_steps(rule, ledger, plays, ages, calendar, world, gaps, tape, rng, last)


bridge.admit_package()
_cached_loop = bridge.compiled(enter_loop, cached=True)
_fresh_loop = bridge.compiled(enter_loop, cached=False)
_one_at_a_time = threading.Lock()
_ready: set[type] = set()  # rule classes that were compiled or loaded before
_refused: dict[type, str] = {}  # rule class -> why it cannot be compiled

PATIENCE = 0.7  # seconds; loading machine code from the cache is faster and stays silent


class CannotCompile(Exception):  # noqa: N818  # not an error: the run goes on interpreted
    """A rule cannot run compiled; the message is the reason, in words."""


def compiled_loop(arguments: tuple[Any, ...]) -> Callable[..., None]:
    """The compiled `run_steps`, ready for these arguments; `CannotCompile` says why not."""
    rule = arguments[0]
    why = bridge.why_not_compilable(rule) or _refused.get(type(rule))
    if why:
        raise CannotCompile(why)
    ours = bridge.is_ours(rule)
    loop: Callable[..., None] = _cached_loop if ours else _fresh_loop
    try:
        known = type(rule) in _ready
        with nullcontext() if known else _announced(type(rule).__name__, ours=ours):
            bridge.admit_value(rule)
            loop(*arguments, 0)  # no step lies before step 1: this only compiles or loads
        _ready.add(type(rule))
    except PolicyError as error:
        raise CannotCompile(str(error).rstrip(".")) from error
    except NumbaError as error:
        _refused[type(rule)] = _in_words(error)
        raise CannotCompile(_refused[type(rule)]) from error
    return loop


def _in_words(error: NumbaError) -> str:
    """The telling line of a Numba error, which wraps each cause in the story of its callers."""
    frame = (
        "During:",
        "- ",
        "There are",
        "Overload ",
        "With argument",
        "Rejected as",
        "No implementation of function Function(<function ",
        "raised from",
        ">>>",
    )
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = next(
        (line for line in lines if not line.startswith(frame) and "Failed in nopython" not in line),
        lines[0],
    )
    return f"Numba says {telling.rstrip('.')!r}"


@contextmanager
def _announced(name: str, *, ours: bool) -> Iterator[None]:
    """Say what is going on if it takes longer than the user's patience, with a running clock.

    One thread at a time: what one is still teaching the compiler, another must not yet use.
    """
    done = threading.Event()
    often = "once for this version" if ours else "once in this process"
    text = f"tarry: compiling {name} ({often})"

    def speak() -> None:
        begin = time.monotonic()
        if done.wait(PATIENCE):
            return
        live = sys.stderr.isatty()
        sys.stderr.write(text if live else f"{text} ...\n")
        sys.stderr.flush()
        while live and not done.wait(0.5):
            sys.stderr.write(f"\r{text} {time.monotonic() - begin:.0f} s")
            sys.stderr.flush()
        if live:
            sys.stderr.write("\n")

    with _one_at_a_time:
        speaker = threading.Thread(target=speak, daemon=True)
        speaker.start()
        try:
            yield
        finally:
            done.set()
            speaker.join()
