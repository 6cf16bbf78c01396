"""What happens to some backends, and how requests come: the description of a scenario."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tarry.checks import check_number, check_positive, check_whole, shortened
from tarry.errors import InputError
from tarry.scenarios.laws import Fails, Hangs, LatencyLaw, State

MOST_REQUESTS = 100_000_000


@dataclass(frozen=True)
class Backend:
    """A server to send requests to.

    With `servers` it works on so many requests at a time, and the others wait in a queue, first
    come, first served; without, requests do not get into each other's way.
    """

    law: LatencyLaw
    servers: int | None = None

    def __post_init__(self) -> None:
        _check_state("law of a backend", self.law, LatencyLaw)
        if self.servers is not None:
            check_whole("number of servers", self.servers, 1, 1_000_000)


@dataclass(frozen=True)
class Change:
    """From second `at` on backend number `backend` does what `becomes` says.

    With `over`, it gets there gradually in so many seconds: each quantile moves on a straight line.
    """

    at: float
    backend: int
    becomes: State
    over: float = 0.0

    def __post_init__(self) -> None:
        check_number("time of a change", self.at, 0.0)
        check_number("duration of a change", self.over, 0.0)
        _check_state("state after a change", self.becomes, LatencyLaw | Hangs | Fails)
        if self.over and not isinstance(self.becomes, LatencyLaw):
            raise InputError(
                f"A change over {self.over:g} s leads to {self.becomes!r}; only laws change "
                f"gradually, so leave out `over`."
            )


@dataclass(frozen=True)
class Bursts:
    """Every so many seconds, for `length` seconds, requests come `times` as often."""

    every: float
    length: float
    times: float

    def __post_init__(self) -> None:
        check_positive("time between bursts", self.every)
        check_positive("length of a burst", self.length)
        check_positive("factor of a burst", self.times)
        if self.length >= self.every:
            raise InputError(
                f"A burst lasts {self.length:g} s every {self.every:g} s; it must be shorter than "
                f"the time between bursts."
            )


@dataclass(frozen=True)
class Scenario:
    """Backends, what happens to them, and the requests; times in seconds.

    Attributes:
        name: What to call it.
        backends: Each a law, or a `Backend`.
        changes: What happens, in any order.
        rate: Requests per second, of all clients together.
        seconds: How long requests are sent.
        timeout: D: a request that takes longer is given up. Failures cost as much.
        arrivals: "poisson" for requests at random times, "constant" for regular ones.
        bursts: When requests come more often, if ever.
        clients: How many routers choose independently, none of which sees what the others see.
    """

    name: str
    backends: Sequence[Backend | LatencyLaw]
    changes: Sequence[Change] = ()
    rate: float = 100.0
    seconds: float = 240.0
    timeout: float = 10.0
    arrivals: str = "poisson"
    bursts: Bursts | None = None
    clients: int = 1
    pieces: tuple[Backend, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)
        check_positive("duration of a scenario", self.seconds)
        check_positive("timeout", self.timeout)
        check_whole("number of clients", self.clients, 1, 10_000)
        if self.arrivals not in ("poisson", "constant"):
            raise InputError(
                f"arrivals is {shortened(self.arrivals)}; it must be 'poisson' or 'constant'."
            )
        if self.rate * self.seconds > MOST_REQUESTS:
            raise InputError(
                f"{self.rate:g} requests per second for {self.seconds:g} s are more than "
                f"{MOST_REQUESTS}; choose a shorter scenario."
            )
        if self.bursts is not None and not isinstance(self.bursts, Bursts):
            raise InputError(f"bursts is {shortened(self.bursts)}; give tarry.scenarios.Bursts.")
        given: list[tuple[str, Any]] = [("backends", self.backends), ("changes", self.changes)]
        for name, value in given:
            if not isinstance(value, Sequence) or isinstance(value, str):
                raise InputError(f"{name} is {shortened(value)}; give a list, [...].")
        if not self.backends:
            raise InputError("backends is empty; a scenario needs at least one backend.")
        made = tuple(b if isinstance(b, Backend) else Backend(b) for b in self.backends)
        object.__setattr__(self, "pieces", made)
        for change in self.changes:
            if not isinstance(change, Change):
                raise InputError(f"A change is {shortened(change)}; give tarry.scenarios.Change.")
            if not 0 <= change.backend < len(made):
                raise InputError(
                    f"A change is about backend {change.backend}; the backends of "
                    f"{self.name!r} are 0 to {len(made) - 1}."
                )


def _check_state(name: str, value: Any, kind: Any) -> None:
    if not isinstance(value, kind) or isinstance(value, type):
        raise InputError(
            f"The {name} is {shortened(value)}; give a law such as LogNormal(0.05), or in a change "
            f"also Hangs() or Fails()."
        )
