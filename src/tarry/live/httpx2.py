"""Transports that send each request of an httpx2 client along a route chosen by an agent.

    import httpx2
    from tarry.live.httpx2 import Route, Transport

    routes = {"fra": "https://fra.example.org", "ams": "https://ams.example.org"}
    client = httpx2.Client(transport=Transport(routes, max_delay=2.0))
    client.get("http://routed/items/7")     # scheme and host are those of the chosen route

`tarry.live.httpx` is the same for httpx. Both need `pip install tarry[live]`.
"""

from tarry.errors import MissingExtraError
from tarry.live.routing.attempt import Served, Until
from tarry.live.routing.aware import AsyncRouter
from tarry.live.routing.package import package
from tarry.live.routing.route import Route, json_fields
from tarry.live.routing.router import RouteCounts
from tarry.live.routing.sync import SyncRouter

try:
    import httpx2
except ModuleNotFoundError as error:
    raise MissingExtraError.of("Choosing among HTTP routes", "httpx2", "live") from error

__all__ = ["AsyncTransport", "Route", "RouteCounts", "Served", "Transport", "Until", "json_fields"]


class Transport(SyncRouter, httpx2.BaseTransport):
    """Routes the requests of an `httpx2.Client`; `tarry.live.routing.router` has the arguments."""

    package = package(httpx2)


class AsyncTransport(AsyncRouter, httpx2.AsyncBaseTransport):
    """Routes the requests of an `httpx2.AsyncClient`; the arguments are those of `Transport`."""

    package = Transport.package
