"""A service in a process of its own, for benchmarks and tests."""

import contextlib
import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ADDRESS = re.compile(r"http://(\S+):(\d+)/")
PATIENCE = 60.0  # seconds until it must have started


class Serving:
    """`tarry serve` with these arguments, or another module that says its address likewise."""

    def __init__(
        self,
        *arguments: str,
        module: tuple[str, ...] = ("tarry", "serve"),
        port: int = 0,
        **env: str,
    ) -> None:
        command = [sys.executable, "-m", *module, "--port", str(port), *arguments]
        self._errors = Path(tempfile.gettempdir()) / f"tarry-serving-{secrets.token_hex(6)}"
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, env={**os.environ, **env}
            )
        weakref.finalize(self, self._errors.unlink, missing_ok=True)
        self.port = self._port()

    def _port(self) -> int:
        until = time.monotonic() + PATIENCE
        said = b""
        pipe = self.process.stdout
        assert pipe is not None
        while time.monotonic() < until:
            line = pipe.readline()
            said += line
            found = ADDRESS.search(line.decode())
            if found:
                return int(found[2])
            if not line:
                break
        self.kill()
        raise RuntimeError(f"The service did not start: {said.decode()}{self.complaints()}")

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def complaints(self) -> str:
        """What it has written to standard error."""
        return self._errors.read_text()

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """One request: the status, and the answer, as JSON if it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            sent = None if body is None else json.dumps(body)
            told = {"content-type": "application/json"} | {
                name.replace("_", "-"): value for name, value in headers.items()
            }
            connection.request(method, path, sent, told)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        with contextlib.suppress(ValueError):
            return answer.status, json.loads(text)
        return answer.status, text.decode()

    def kill(self) -> None:
        """End it without notice."""
        self.process.kill()
        self.process.wait()
        self._close()

    def end(self, patience: float = 20.0) -> int:
        """Ask it to end; its status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(patience)
        finally:
            if self.process.poll() is None:
                self.kill()
            self._close()

    def _close(self) -> None:
        if self.process.stdout is not None:
            self.process.stdout.close()

    def __enter__(self) -> Self:
        """The service."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self.end()


def memory(process: int) -> float:
    """Resident memory in MiB."""
    text = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(found[1]) / 1024 if found else 0.0
