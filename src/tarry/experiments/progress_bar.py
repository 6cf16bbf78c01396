"""Progress: a bar with the time left on a terminal, a line now and then elsewhere."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

FIRST_LINE = 2.0  # seconds until something is said where there is no terminal
QUIET_SECONDS = 10.0  # between two lines there


class Advance(Protocol):
    """Called when work is done."""

    def __call__(self, amount: float, /, what: str = "") -> None:
        """Add `amount` of work; `what` is being done now."""


@contextmanager
def bar(title: str, total: float, *, done: float = 0.0) -> Iterator[Advance]:
    """Show progress on stderr while the block runs."""
    show = terminal_bar if sys.stderr.isatty() else line_by_line
    with show(title, total, done) as advance:
        yield advance


@contextmanager
def told_if_long(text: str, *, quiet: bool = False) -> Iterator[None]:
    """Say on stderr what the block does if it takes longer than one waits without a word."""

    def speak() -> None:
        sys.stderr.write(f"{text} ...\n")
        sys.stderr.flush()

    timer = threading.Timer(FIRST_LINE, speak)
    timer.daemon = True
    if not quiet:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def terminal_bar(title: str, total: float, done: float) -> Iterator[Advance]:
    """A bar that moves."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=60) as progress:
        task = progress.add_task(title, total=total, completed=int(done))

        def advance(amount: float, /, what: str = "") -> None:
            progress.update(task, advance=amount, description=f"{title} {what}".rstrip())

        yield advance


@contextmanager
def line_by_line(title: str, total: float, done: float) -> Iterator[Advance]:
    """A line of text at most every few seconds, for logs."""
    begin = time.monotonic()
    silent_until = begin + min(FIRST_LINE, QUIET_SECONDS)
    worked = 0.0

    def advance(amount: float, /, what: str = "") -> None:
        nonlocal silent_until, worked
        worked += amount
        now = time.monotonic()
        if now < silent_until:
            return
        silent_until = now + QUIET_SECONDS
        rest = total - done - worked
        left = (now - begin) * rest / worked if worked else 0.0
        share = 100 * (done + worked) / total
        line = f"{title} {what}".rstrip()
        sys.stderr.write(f"{line}: {share:.0f} %, about {left:.0f} s left\n")
        sys.stderr.flush()

    yield advance
