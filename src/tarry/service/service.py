"""A service: agents, keys, limits and all else that answers look at."""

import asyncio
import ipaddress
import re
import time
from collections.abc import Callable, Sequence

from tarry.service.agents import Agents
from tarry.service.keys import Keys
from tarry.service.limits import Buckets
from tarry.service.metrics import Metrics
from tarry.service.problems import RefusedError
from tarry.service.tokens import Signer

PLACE = re.compile(r"(\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9.-]+))(:[0-9]{1,5})?")
RATE = 10_000.0  # requests per second of one key
PAGE_RATE = 50.0  # of the pages at one address


class Service:
    """What a running service is made of; `over` is set when it is to end."""

    def __init__(
        self,
        agents: Agents,
        *,
        keys: Keys | None = None,
        origins: Sequence[str] = (),
        secret: bytes | None = None,
        rate: float = RATE,
        page_rate: float = PAGE_RATE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.agents = agents
        self.keys = keys or Keys()
        self.origins = frozenset(origins)
        self.signer = Signer(secret or agents.shelf.secret())
        self.rate = Buckets(rate)
        self.page_rate = Buckets(page_rate)
        self.clock = clock
        self.metrics = Metrics(agents)
        self.over = asyncio.Event()

    def knows_origin(self, origin: str) -> bool:
        """Whether pages of this origin may use something here, with the right key."""
        return self._is_here(origin) or origin in {*self.origins, *self.keys.origins()}

    def check_origin(self, origin: str, named: Sequence[str]) -> None:
        """Refuse pages of other origins than those that were named."""
        if self._is_here(origin) or origin in (named or self.origins):
            return
        how = "make a page key that names it" if self.keys else "name it with --origin"
        raise RefusedError(
            "origin", f"Pages of the origin {origin[:200]!r} may not use this; {how}."
        )

    def _is_here(self, origin: str) -> bool:
        """Whether a page is of this machine, where no keys are needed."""
        return not self.keys and is_loopback(host_of(origin.partition("://")[2]))


def is_loopback(host: str) -> bool:
    """Whether this is a name of this machine that nobody else can have.

    An address, whole: 127.0.0.1.evil.example is a name that anybody can point here.
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def host_of(place: str) -> str:
    """The host of what stands in a Host header or in an origin after ://; "" of anything else."""
    found = PLACE.fullmatch(place)
    return (found["six"] or found["name"]) if found else ""
