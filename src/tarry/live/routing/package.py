"""A package that speaks HTTP, with the kinds of bodies that it accepts."""

from typing import Any, NamedTuple

from tarry.live.routing.bodies import AsyncBody, AsyncUpload, SyncBody, SyncUpload


class Package(NamedTuple):
    """`httpx` or a package with its interface, and our bodies as children of its own."""

    http: Any
    body: Any
    async_body: Any
    upload: Any
    async_upload: Any


def package(http: Any) -> Package:
    """Our bodies for `http`."""
    plain, aware = http.SyncByteStream, http.AsyncByteStream
    return Package(
        http,
        type("Body", (SyncBody, plain), {}),
        type("AsyncBody", (AsyncBody, aware), {}),
        type("Upload", (SyncUpload, plain), {}),
        type("AsyncUpload", (AsyncUpload, aware), {}),
    )
