"""A real Chromium for the tests: driven by Playwright, or by hand where tabs must be hidden.

Playwright keeps every tab visible, so what happens to a tab that another one covers is tried with
a few commands of the DevTools protocol of our own.
"""

import contextlib
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SETTINGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


def chromium() -> str:
    """Where it is; without one, tests of pages are skipped."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("There is no Chromium here (apt install chromium): pages are not tested.")
    return found


def until(true: Callable[[], Any], seconds: float = 10.0) -> Any:
    """Wait until something is true, and return it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := true():
            return found
        time.sleep(0.02)
    raise AssertionError(f"It was not so within {seconds} seconds.")


class Tab:
    """A tab of a browser that is driven by hand."""

    def __init__(self, port: str, target: str, line: Any) -> None:
        self._port, self.target, self._line, self._sent = port, target, line, 0

    def call(self, method: str, **settings: Any) -> Any:
        """A command of the DevTools protocol."""
        self._sent += 1
        self._line.send(json.dumps({"id": self._sent, "method": method, "params": settings}))
        while True:
            answer = json.loads(self._line.recv(10))
            if answer.get("id") == self._sent:
                return answer["result"]

    def js(self, text: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=text, returnByValue=True)
        return found["result"].get("value")

    def front(self) -> None:
        """In front of all other tabs, which are hidden then."""
        _ask(self._port, f"activate/{self.target}")


class Tabs:
    """A browser of our own."""

    def __init__(self, port: str, lines: contextlib.ExitStack) -> None:
        self._port, self._lines = port, lines

    def open(self, address: str) -> Tab:
        """A new tab, in front."""
        made = json.loads(_ask(self._port, f"new?{address}", "PUT"))
        tab = self._tab(made["id"])
        tab.front()
        return tab

    def open_behind(self, front: Tab, address: str) -> Tab:
        """A new tab behind another one."""
        return self._tab(
            front.call("Target.createTarget", url=address, background=True)["targetId"]
        )

    def _tab(self, target: str) -> Tab:
        address = f"ws://127.0.0.1:{self._port}/devtools/page/{target}"
        return Tab(self._port, target, self._lines.enter_context(connect(address)))


@contextlib.contextmanager
def tabs(folder: Path) -> Iterator[Tabs]:
    """A browser until the end of the block; `folder` is for its profile."""
    told = [*SETTINGS, "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"]
    with contextlib.ExitStack() as lines:
        browser = lines.enter_context(
            subprocess.Popen(
                [chromium(), *told], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )
        try:
            file = folder / "DevToolsActivePort"
            until(lambda: file.exists() and file.read_text())
            yield Tabs(file.read_text().split()[0], lines)
        finally:
            browser.terminate()


def _ask(port: str, path: str, method: str = "GET") -> bytes:
    request = urllib.request.Request(  # to our own browser
        f"http://127.0.0.1:{port}/json/{path}", method=method
    )
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310  # as above
        return bytes(answer.read())
