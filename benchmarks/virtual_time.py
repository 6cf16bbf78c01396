"""An event loop in which nobody waits: where nothing is to be done, the clock moves on."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any


class Selector(selectors.DefaultSelector):
    """Looks for what is ready, and lets time pass instead of waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0  # seconds; of large numbers a short wait would be lost in rounding

    def select(self, timeout: float | None = None) -> Any:
        """What is ready; `timeout` seconds later if nothing is."""
        found = super().select(0)
        if not found and timeout:
            self.now += timeout
        return found


class Loop(asyncio.SelectorEventLoop):
    """Time begins at 0."""

    def __init__(self) -> None:
        self.clock = Selector()
        super().__init__(self.clock)

    def time(self) -> float:
        """The present."""
        return self.clock.now


def run(loop: Loop, what: Coroutine[Any, Any, Any]) -> Any:
    """Run it to its end."""
    try:
        return loop.run_until_complete(what)
    finally:
        loop.close()
