"""What a router is: settings that start a choice among backends.

A router of your own is an object with `start`, which gets a `RouterSetting` and returns something
with the three methods of `RunningRouter`. One that is started once for each client and each run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True)
class RouterSetting:
    """What a router is told before the first request."""

    backends: int
    timeout: float  # seconds
    rng: Random
    costs: Callable[[float], list[float]]  # what backends cost just now; for the oracle alone


class RunningRouter(Protocol):
    """The running form: it chooses, and hears what became of its requests."""

    def choose(self, request: int, now: float) -> int:
        """The backend for this request, sent at second `now`."""

    def answered(self, request: int, backend: int, latency: float, now: float) -> None:
        """The answer is here."""

    def failed(self, request: int, backend: int, latency: float, now: float) -> None:
        """The answer is a failure, or there is none and `latency` is the timeout."""


@runtime_checkable
class RouterSettings(Protocol):
    """The settings of a router."""

    def start(self, setting: RouterSetting) -> Any:
        """A fresh router."""
