"""What a user is told while something is compiled: nothing at first, then a line with a clock."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tarry.compiled.interrupts import heeding_interrupts
from tarry.compiled.turns import PATIENCE, turn


@contextmanager
def announced(rule: Any, once: str) -> Iterator[None]:
    """Say that a rule is being compiled, with a running clock, if it takes longer than patience."""
    done = threading.Event()
    text = f"tarry: compiling {type(rule).__name__} ({once})"

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

    with turn:
        speaker = threading.Thread(target=speak, daemon=True)
        speaker.start()
        try:
            with heeding_interrupts():
                yield
        finally:
            done.set()
            speaker.join()
