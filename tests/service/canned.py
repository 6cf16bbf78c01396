"""A server that says what a test wants it to say: the files of the dashboard, and given views."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlparse

import tarry.service
from tarry.service.site import POLICY

STATIC = Path(tarry.service.__file__).parent / "static"
TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
}


class Canned:
    """On a free port of the loopback interface, until `close`."""

    def __init__(self) -> None:
        self.views: dict[str, dict[str, Any]] = {}
        self.key = ""
        self.slow = 0.0  # seconds before the list of agents is answered
        self.signs = 0  # of life that were sent to those who watch
        self.over = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def handler(self) -> type[BaseHTTPRequestHandler]:
        """A handler that knows this server."""
        canned = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                canned.answer(self)

            def log_message(self, *args: Any) -> None:
                """Quiet."""

        return Handler

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """A file, the names, a view, or events."""
        url = urlparse(request.path)
        file = STATIC / ("index.html" if url.path == "/" else url.path.removeprefix("/static/"))
        if url.path == "/" or url.path.startswith("/static/"):
            send(request, 200, file.read_bytes(), TYPES[file.suffix])
        elif self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            send(request, 401, b'{"detail": "The key is none of this service."}')
        elif url.path == "/v1/agents":
            time.sleep(self.slow)
            send(request, 200, json.dumps({"agents": list(self.views)}).encode())
        elif url.path.endswith("/view"):
            name = unquote(url.path.split("/")[3])
            send(request, 200, json.dumps(self.views[name]).encode())
        else:
            self.stream(request, parse_qs(url.query)["agent"][0])

    def stream(self, request: BaseHTTPRequestHandler, name: str) -> None:
        """The view whenever it is another one."""
        request.send_response(200)
        request.send_header("Content-Type", "text/event-stream")
        request.end_headers()
        before, signs = None, self.signs
        while not self.over.is_set():
            now = self.views[name]
            text = f"event: view\ndata: {json.dumps(now)}\n\n" if now is not before else ""
            text = text or ": here\n\n" * (self.signs - signs)
            before, signs = now, self.signs
            if text:
                try:
                    request.wfile.write(text.encode())
                    request.wfile.flush()
                except OSError:
                    return
            self.over.wait(0.02)
        request.close_connection = True

    def close(self) -> None:
        """Let go of the port."""
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


def send(
    request: BaseHTTPRequestHandler, status: int, body: bytes, kind: str = "application/json"
) -> None:
    """An answer with the headers of the real server."""
    request.send_response(status)
    request.send_header("Content-Type", f"{kind}; charset=utf-8")
    request.send_header("Content-Length", str(len(body)))
    request.send_header("Content-Security-Policy", POLICY)
    request.end_headers()
    request.wfile.write(body)
