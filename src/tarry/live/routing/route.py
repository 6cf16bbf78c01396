"""`Route`: where the requests of one arm go, and what they need there."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tarry.errors import InputError

Rewrite = Callable[[Any], Any]


@dataclass(frozen=True)
class Route:
    """The base URL of an arm, with the headers and changes that its server wants.

    Args:
        url: The path of a request is appended to that of the URL, its query to the URL's.
        headers: Set on each request, over what it has: the key of this provider, say. They go
            to this route only, and `repr` does not show them.
        rewrite: Gets the request as it would be sent, with the URL and the headers of the route,
            and returns the one to send (or changes it and returns nothing). See `json_fields`.

    >>> Route("https://eu.example.org/v1", headers={"Authorization": "Bearer secret"})
    Route(url='https://eu.example.org/v1')
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    rewrite: Rewrite | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be sent to."""
        parts = urlsplit(str(self.url))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(
                f"The URL of a route is {self.url!r}; give one with scheme and host, such as "
                f"https://eu.example.org/v1."
            )
        headers: Any = self.headers
        given = [*headers, *headers.values()] if isinstance(headers, Mapping) else [headers]
        if not all(isinstance(text, str) for text in given):
            raise InputError("The headers of a route are texts by name; give a dict of them.")


def as_route(route: "Route | str") -> Route:
    """A route, from itself or from its URL alone."""
    return route if isinstance(route, Route) else Route(str(route))


def json_fields(**fields: Any) -> Rewrite:
    """A rewrite that sets these fields of a JSON body: `rewrite=json_fields(model="small-2")`.

    A request whose body is no JSON object is left as it is.
    """

    def rewrite(request: Any) -> Any:
        try:
            body = json.loads(request.content)
        except (ValueError, RuntimeError):  # no JSON, or a body that is streamed
            return request
        if not isinstance(body, dict):
            return request
        headers = request.headers.copy()
        headers.pop("Content-Length", None)
        return type(request)(
            request.method, request.url, headers=headers, content=json.dumps(body | fields)
        )

    return rewrite


def content_of(http: Any, request: Any) -> bytes | None:
    """The body of a request if it is in memory, so that it can be sent again; else None."""
    try:
        content: bytes = request.content
    except http.RequestNotRead:
        return None
    return content


def addressed(http: Any, request: Any, route: Route) -> Any:
    """The same request for `route`; what a rewrite raises is the caller's."""
    base = http.URL(route.url)
    path, _, query = request.url.raw_path.partition(b"?")
    whole = base.raw_path.partition(b"?")[0].rstrip(b"/") + path
    queries = b"&".join(part for part in (base.query, query) if part)
    url = base.copy_with(raw_path=whole + b"?" + queries if queries else whole)
    headers = request.headers.copy()
    headers["Host"] = url.netloc.decode("ascii")
    headers.update(route.headers)
    content = content_of(http, request)
    body = {"stream": request.stream} if content is None else {"content": content}
    sent = http.Request(request.method, url, headers=headers, **body)
    if route.rewrite is not None:
        sent = route.rewrite(sent) or sent
        if sent.url.netloc != url.netloc and sent.headers.get("Host") == headers["Host"]:
            sent.headers["Host"] = sent.url.netloc.decode("ascii")
    sent.extensions = {**request.extensions, **sent.extensions}
    return sent
