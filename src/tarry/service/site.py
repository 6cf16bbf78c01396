"""The dashboard and the script for pages: files of the package, nothing from elsewhere."""

import functools
import gzip
import zlib
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse

from tarry.service.problems import MEDIA, problem

STATIC = Path(__file__).parent / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
}


class Site:
    """Serves what is in `static`."""

    def __init__(self) -> None:
        self._files = {f"/static/{path.name}": path for path in STATIC.glob("*.*")}
        for address, name in (("/", "index.html"), ("/dwell.js", "dwell.js")):
            if (STATIC / name).exists():
                self._files[address] = STATIC / name

    def has(self, path: str) -> bool:
        """Whether this is an address of the site."""
        return path in self._files or path == "/" or path.startswith("/static/")

    async def answer(self, scope: Any, receive: Any, send: Any) -> int:
        """Send a file; the status."""
        response = self._response(scope)
        await response(scope, receive, send)
        return response.status_code

    def _response(self, scope: Any) -> Response:
        path = self._files.get(scope["path"])
        if scope["method"] not in ("GET", "HEAD"):
            status, body = problem("method", "This address takes GET, HEAD.")
            return Response(body, status, {"allow": "GET, HEAD"}, MEDIA.decode())
        if path is None:
            status, body = problem("path", "Nothing is at this address.")
            return Response(body, status, media_type=MEDIA.decode())
        headers = {
            "cache-control": "no-cache",
            "content-security-policy": POLICY,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
        }
        if path.name == "dwell.js":  # for the pages of others
            headers |= {
                "access-control-allow-origin": "*",
                "cross-origin-resource-policy": "cross-origin",
            }
        kind = TYPES.get(path.suffix)
        told = dict(scope["headers"])
        response: Response
        if kind and b"gzip" in told.get(b"accept-encoding", b""):
            body = compressed(path, path.stat().st_mtime_ns)
            headers |= {"content-encoding": "gzip", "etag": f'"{zlib.crc32(body):08x}-gzip"'}
            response = Response(body, headers=headers, media_type=kind)
        else:
            response = FileResponse(path, headers=headers, media_type=kind, stat_result=path.stat())
        response.headers["vary"] = "Accept-Encoding"
        asked = told.get(b"if-none-match", b"").decode("latin-1")
        if asked and asked == response.headers["etag"]:
            return NotModifiedResponse(response.headers)
        return response


@functools.lru_cache(maxsize=64)
def compressed(path: Path, changed: int) -> bytes:
    """A file as it goes over the line; `changed` tells one version of it from another."""
    return gzip.compress(path.read_bytes(), mtime=0)
