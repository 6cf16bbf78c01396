"""The client of the service: agents elsewhere, with the methods of an agent here."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tarry.service.client.connection import Connection

PATIENCE = 10.0  # seconds for which a request is repeated
TIMEOUT = 10.0  # seconds until one attempt is given up


def connect(
    address: str, *, key: str | None = None, patience: float = PATIENCE, timeout: float = TIMEOUT
) -> "Connection":
    """A connection to a service, "http://host:port", with a key if it wants one.

    Its `agent(name, arms=[...], payoff="cost", max_delay=2.0)` makes an agent there, or opens it,
    and has the methods of `tarry.Agent`. A request that is not answered is repeated for `patience`
    seconds, which does no harm; each attempt is given up after `timeout`, the last one included.
    """
    from tarry.service.client.connection import Connection

    return Connection(address, key, patience, timeout)
