"""Ctrl-C while something is compiled."""

import ctypes
import signal
import sys
import threading

import pytest

from tarry.compiled.interrupts import heeding_interrupts


def interrupted_inside() -> None:
    """A Ctrl-C in Python code that machine code has called: ctypes prints it and goes on."""
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()


def test_an_interrupt_that_is_swallowed_is_raised_in_the_end(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It is not lost, nothing is printed, and handlers are as they were before."""
    given = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    before = signal.getsignal(signal.SIGINT), sys.unraisablehook
    went_on = []

    def compiling() -> None:
        with heeding_interrupts():
            interrupted_inside()
            went_on.append(True)

    try:
        with pytest.raises(KeyboardInterrupt):
            compiling()
        assert went_on
        assert capfd.readouterr().err == ""
        assert (signal.getsignal(signal.SIGINT), sys.unraisablehook) == before
    finally:
        signal.signal(signal.SIGINT, given)


def test_other_handlers_are_left_alone() -> None:
    """Somebody's own handler is called, and other threads are not touched."""
    calls = []
    old = signal.signal(signal.SIGINT, lambda *_: calls.append("own"))
    try:
        with heeding_interrupts():
            interrupted_inside()
    finally:
        signal.signal(signal.SIGINT, old)
    assert calls == ["own"]

    def elsewhere() -> None:
        with heeding_interrupts():
            calls.append("thread")

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert calls == ["own", "thread"]
