"""Transports that send each request of an httpx client along a route chosen by an agent.

    import httpx
    from tarry.live.httpx import Route, Transport

    routes = {"fra": "https://fra.example.org", "ams": "https://ams.example.org"}
    client = httpx.Client(transport=Transport(routes, max_delay=2.0))
    client.get("http://routed/items/7")     # scheme and host are those of the chosen route

`tarry.live.httpx2` is the same for httpx2. Both need `pip install tarry[live]`.
"""

from tarry.errors import MissingExtraError
from tarry.live.routing.attempt import Served, Until
from tarry.live.routing.aware import AsyncRouter
from tarry.live.routing.package import package
from tarry.live.routing.route import Route, json_fields
from tarry.live.routing.router import RouteCounts
from tarry.live.routing.sync import SyncRouter

try:
    import httpx
except ModuleNotFoundError as error:
    raise MissingExtraError.of("Choosing among HTTP routes", "httpx", "live") from error

__all__ = ["AsyncTransport", "Route", "RouteCounts", "Served", "Transport", "Until", "json_fields"]


class Transport(SyncRouter, httpx.BaseTransport):
    """Routes the requests of an `httpx.Client`; `tarry.live.routing.router` has the arguments."""

    package = package(httpx)


class AsyncTransport(AsyncRouter, httpx.AsyncBaseTransport):
    """Routes the requests of an `httpx.AsyncClient`; the arguments are those of `Transport`."""

    package = Transport.package
