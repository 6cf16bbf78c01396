"""Ctrl-C while something is compiled.

The compiler calls back into Python from machine code. An exception that is raised there is printed
and forgotten, so that a Ctrl-C at that moment would be lost and the work go on.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def heeding_interrupts() -> Iterator[None]:
    """Let a Ctrl-C that is lost inside be raised at the end.

    Only where the handler is that of Python and signals arrive at all, in the main thread: whoever
    handles interrupts otherwise is left alone.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    heard = False
    complain = sys.unraisablehook

    def note(number: int, frame: Any) -> None:
        nonlocal heard
        heard = True
        signal.default_int_handler(number, frame)

    def hush(lost: Any) -> None:
        if not isinstance(lost.exc_value, KeyboardInterrupt):
            complain(lost)

    signal.signal(signal.SIGINT, note)
    sys.unraisablehook = hush
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = complain
    if heard:
        raise KeyboardInterrupt
