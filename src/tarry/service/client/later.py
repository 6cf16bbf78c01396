"""What is sent in the background, since whoever wanted it sent cannot wait."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import httpx

from tarry.service.client.clients import Clients

THREADS = 2
HURRY = 1.0  # seconds for each step of an attempt
WAITS = 3.0  # seconds after which it is too late to begin: a program that ends waits for it
log = logging.getLogger("tarry")

Job = Callable[[httpx.Client], Any]


class Later:
    """Jobs in order, in threads that end when nothing is left to do.

    The threads have a client of their own, so closing the connection is no matter to them.
    """

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._lock = threading.Lock()
        self._jobs: deque[tuple[float, Job]] = deque()
        self._threads = 0

    def do(self, job: Job) -> None:
        """Begin, and return at once."""
        with self._lock:
            self._jobs.append((time.monotonic() + WAITS, job))
            if self._threads == THREADS:
                return
            self._threads += 1
        try:
            threading.Thread(target=self._work, name="tarry-later").start()
        except RuntimeError as error:  # the interpreter ends
            with self._lock:
                self._threads -= 1
            log.debug("What was to be sent in the background is not sent (%s).", error)

    def _work(self) -> None:
        with self._clients.another() as client:
            while (job := self._next()) is not None:
                try:
                    job(client)
                except Exception as error:  # noqa: BLE001  # nobody waits for it
                    log.debug("What was to be sent in the background was not taken: %s", error)

    def _next(self) -> Job | None:
        with self._lock:
            while self._jobs:
                until, job = self._jobs.popleft()
                if time.monotonic() < until:
                    return job
                log.debug("What was to be sent in the background came too late to be sent.")
            self._threads -= 1
            return None
