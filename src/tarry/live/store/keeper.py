"""A thread that works for a store behind the callers' backs.

It writes snapshots and history, folds the write-ahead log into the file, tries again when the store
could not be written, and says to those who wait without a thread of their own when their facts are
durable. It starts with the first thing to do, and holds no lock while it runs code of others.
"""

import contextlib
import threading
import weakref
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from tarry.errors import JournalError

AGAIN = 1.0  # seconds until the next attempt
Job = Callable[[], None]


class Kept(Protocol):
    """What the keeper needs of a store."""

    trouble: str

    @property
    def appended(self) -> int:
        """The number of the latest fact."""

    def wait(self, number: int) -> None:
        """Make durable."""


class Keeper:
    """Does one thing after the other; what fails is tried again before anything else."""

    def __init__(self, store: Kept) -> None:
        self._store = weakref.ref(store)
        self._inbox: SimpleQueue[Any] = SimpleQueue()  # may be used inside the garbage collector
        self._thread: threading.Thread | None = None

    def do(self, job: Job) -> None:
        """Have this done."""
        self._send(job)

    def when_durable(self, number: int, call: Job) -> None:
        """Call this, from another thread, when fact `number` is durable or cannot be made so."""
        self._send((number, call))

    def look(self) -> None:
        """There may be something to try again."""
        self._send(None)

    def stop(self, patience: float | None = None) -> list[Job]:
        """End the thread, waiting so long for what it is doing; what it has not begun."""
        left: list[Job] = []
        thread, self._thread = self._thread, None
        if thread is not None:
            self._inbox.put(left)
            if thread is not threading.current_thread():
                thread.join(patience)
        return left

    def _send(self, item: Any) -> None:
        self._inbox.put(item)
        if self._thread is None:
            thread = threading.Thread(
                target=_work, args=(self._inbox, self._store), name="tarry-keeper", daemon=True
            )
            self._thread = thread
            thread.start()


def _work(inbox: "SimpleQueue[Any]", find: "weakref.ref[Kept]") -> None:
    """Until told to stop: take what is there, and do it."""
    jobs: deque[Job] = deque()
    pause: float | None = None
    while True:
        waiting: list[tuple[int, Job]] = []
        for item in _taken(inbox, pause):
            if isinstance(item, list):
                item.extend(jobs)
                return
            if isinstance(item, tuple):
                waiting.append(item)
            elif item is not None:
                jobs.append(item)
        store = find()
        if store is None:
            return
        _answer(store, waiting)
        pause = 0.0 if len(jobs) > 1 else None
        try:
            if jobs:
                jobs[0]()
                jobs.popleft()
            elif store.trouble:
                store.wait(store.appended)
        except JournalError:
            pause = AGAIN
        del store


def _taken(inbox: "SimpleQueue[Any]", pause: float | None) -> list[Any]:
    """All that is in the box; waits for the first so long, for ever if `pause` is None."""
    found = []
    with contextlib.suppress(Empty):
        found.append(inbox.get(timeout=pause))
        while True:
            found.append(inbox.get_nowait())
    return found


def _answer(store: Kept, waiting: list[tuple[int, Job]]) -> None:
    """Make durable what is waited for, and say so to all whose facts are, or cannot be."""
    if waiting:
        with contextlib.suppress(JournalError):  # who waits looks whether it is durable
            store.wait(max(number for number, _ in waiting))
    for _, call in waiting:
        call()
