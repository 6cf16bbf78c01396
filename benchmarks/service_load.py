"""Load for a service: connections that ask, and ask again when they are answered.

Plain sockets and one loop, so that on a machine of two cores the load takes little of what it is to
measure: `python -m benchmarks.service_load PORT SECONDS CONNECTIONS WHAT`, in a process of its own.
"""

import json
import re
import selectors
import socket
import sys
import time
from dataclasses import dataclass, field
from typing import NamedTuple

PLAY = re.compile(rb'"play":"(\d+)"')
NAME = "bench"


class Seen(NamedTuple):
    """What one load saw."""

    answers: int
    seconds: float
    p50: float  # milliseconds
    p99: float
    wrong: int  # answers with another status than 200


@dataclass
class Connection:
    """A socket with a request under way."""

    sock: socket.socket
    begun: float = 0.0
    got: bytearray = field(default_factory=bytearray)
    play: bytes = b""


def request(path: str, body: bytes) -> bytes:
    """A request as bytes."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def complete(got: bytearray) -> bool:
    """Whether a whole answer is there."""
    end = got.find(b"\r\n\r\n")
    if end < 0:
        return False
    place = got.find(b"content-length: ")
    length = int(got[place + 16 : got.find(b"\r", place)]) if 0 <= place < end else 0
    return len(got) >= end + 4 + length


class Load:
    """So many connections to a port; each asks, or asks and tells in turn."""

    def __init__(self, port: int, connections: int, what: str) -> None:
        self.chooser = selectors.DefaultSelector()
        self.tells = what == "plays"
        self.ask = request(f"/v1/agents/{NAME}/ask", b"")
        self.times: list[float] = []
        self.wrong = 0
        for _ in range(connections):
            sock = socket.create_connection(("127.0.0.1", port))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.chooser.register(sock, selectors.EVENT_READ, Connection(sock))

    def run(self, seconds: float) -> Seen:
        """Ask for so long."""
        begun = time.perf_counter()
        for key in list(self.chooser.get_map().values()):
            self.send(key.data)
        end = begun + seconds
        while time.perf_counter() < end:
            for key, _ in self.chooser.select(0.1):
                self.hear(key.data)
        taken = time.perf_counter() - begun
        times = sorted(self.times)
        at = [1e3 * times[int(q * (len(times) - 1))] for q in (0.5, 0.99)] if times else [0.0, 0.0]
        return Seen(len(times), taken, at[0], at[1], self.wrong)

    def send(self, one: Connection) -> None:
        """The next request of a connection."""
        one.begun = time.perf_counter()
        if self.tells and one.play:
            body = b'{"play":"%b","delay":0.01}' % one.play
            one.play = b""
            one.sock.sendall(request(f"/v1/agents/{NAME}/tell", body))
        else:
            one.sock.sendall(self.ask)

    def hear(self, one: Connection) -> None:
        """Something came back."""
        piece = one.sock.recv(65536)
        if not piece:
            raise RuntimeError("the service hung up")
        one.got += piece
        if not complete(one.got):
            return
        self.times.append(time.perf_counter() - one.begun)
        self.wrong += not one.got.startswith(b"HTTP/1.1 200")
        if self.tells:
            found = PLAY.search(one.got)
            one.play = found[1] if found else b""
        one.got.clear()
        self.send(one)


if __name__ == "__main__":
    seen = Load(int(sys.argv[1]), int(sys.argv[3]), sys.argv[4]).run(float(sys.argv[2]))
    sys.stdout.write(json.dumps(seen._asdict()))
