"""Ways to a service on which something happens, and a server that tells ways apart."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.service.test_client import Leaky, whole


class Ports:
    """A server that says from which port it was asked."""

    def __init__(self) -> None:
        ports = self.seen = set[int]()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                ports.add(self.client_address[1])
                body = json.dumps({"agents": [str(self.client_address[1])]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                """Quiet."""

        class Server(ThreadingHTTPServer):
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


class Held(Leaky):
    """A way to a service on which answers wait until they are let through."""

    def __init__(self, port: int) -> None:
        self.arrived = threading.Event()
        self.free = threading.Event()
        super().__init__(port)

    def _carry(self, near: socket.socket) -> None:
        with (
            contextlib.suppress(OSError),  # the other side is gone
            near,
            socket.create_connection(("127.0.0.1", self.to)) as far,
        ):
            while request := whole(near):
                far.sendall(request)
                answer = whole(far)
                self.arrived.set()
                self.free.wait(20)
                near.sendall(answer)


def comes(true: Callable[[], bool]) -> bool:
    """Whether it becomes true."""
    end = time.monotonic() + 10
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()
