"""When the body of an answer was there, however slowly it is read."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from tarry.live.routing.attempt import Attempt, Ending, Until
from tarry.live.routing.book import Book

TICK = 0.001  # seconds: a read that is over sooner found its bytes waiting
LAST_EVENT = b"data: [DONE]"  # clients of event streams stop reading here
PATIENCE = 0.1  # of D: a reader who stays away longer is not waited for,
AT_LEAST = 0.25  # seconds, since a busy program is no slow reader,
AT_MOST = 0.9  # of D: but by this age a play that is not read is given up


class Delivery:
    """Follows the reading of one body, and says when the play is over.

    Only the reader sees bytes come. A read that has to wait ends when the server has delivered:
    that moment counts. A read that finds its bytes there says only that they came earlier, while
    the reader was busy, and does not move the time. So a reader who keeps up sees the exact time,
    and a slow one a time that is too short rather than one that has its own pauses in it.
    """

    def __init__(self, attempt: Attempt, until: Until, response: Any) -> None:
        self.attempt = attempt
        self.away_since: float | None = None  # when the caller got something to read
        self._until = until
        self._left = _length(response) if until == "body" else None
        self._events = _media_type(response) == "text/event-stream"
        self._tail = b""
        self._is_readable = _readable(response)
        self._there = False
        self._since = 0.0

    def reading(self) -> None:
        """The reader wants more."""
        self.away_since = None
        self._there = self._is_readable()
        self._since = self.attempt.waiting.now()

    def came(self, chunk: bytes) -> Ending | None:
        """Bytes are there; how the play ends, if it does."""
        self._arrived()
        if self._until == "first-byte":
            return "tell" if chunk else None
        if self._left is not None:
            self._left -= len(chunk)
            return "tell" if self._left <= 0 else None
        if self._events:
            recent = self._tail + chunk
            self._tail = recent[-len(LAST_EVENT) :]
            return "tell" if LAST_EVENT in recent else None
        return None

    def ended(self) -> Ending:
        """There is nothing more to read."""
        self._arrived()
        return "tell"

    def handed_out(self) -> None:
        """The caller has something to read."""
        self.away_since = self.attempt.waiting.now()

    def _arrived(self) -> None:
        waiting = self.attempt.waiting
        over = self.attempt.ending is not None
        if not over and not self._there and waiting.now() - self._since >= TICK:
            waiting.arrived()


class Readers:
    """Cancels the plays of readers who stay away, before their absence is counted as the arm's.

    A play grows old while its body lies unread, and at age D it would be closed with the worst
    cost. What is known of it is only that it was not over when the reader left; it is cancelled
    when the reader has been away for a tenth of D, and for a quarter of a second at least. One
    thread looks after all readers of a transport, and only while there are any.
    """

    def __init__(self, book: Book) -> None:
        self.left = 0  # plays cancelled because their reader stayed away
        self._book = book
        self._max_delay = book.agent.max_delay
        self._patience = max(PATIENCE * self._max_delay, AT_LEAST)
        self._away: set[Delivery] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, delivery: Delivery) -> None:
        """The head of an answer went to the caller, who may read its body now."""
        delivery.handed_out()
        with self._lock:
            self._away.add(delivery)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._look, daemon=True, name="tarry readers"
                )
                self._thread.start()

    def discard(self, delivery: Delivery) -> None:
        """The play is over. Without the lock: this may be inside the garbage collector."""
        self._away.discard(delivery)

    def _look(self) -> None:
        pause = threading.Event()
        while True:
            pause.wait(self._max_delay / 25)
            with self._lock:
                if not self._away:
                    self._thread = None
                    return
                away = [delivery for delivery in list(self._away) if self._too_long(delivery)]
                self._away.difference_update(away)
            for delivery in away:
                self.left += delivery.attempt.ending is None
                self._book.write(delivery.attempt, "cancel")

    def _too_long(self, delivery: Delivery) -> bool:
        since = delivery.away_since
        if since is None:
            return False
        age = delivery.attempt.waiting.now()  # since the play began
        return age - since >= self._patience or age >= AT_MOST * self._max_delay


def _length(response: Any) -> int | None:
    """How many bytes the body will have; None if the head does not say."""
    with contextlib.suppress(ValueError):
        return int(response.headers.get("Content-Length", ""))
    return None


def _media_type(response: Any) -> str:
    kind: str = response.headers.get("Content-Type", "")
    return kind.partition(";")[0].strip().lower()


def _readable(response: Any) -> Callable[[], bool]:
    """Whether bytes of this answer lie ready; False where that cannot be known.

    A connection of HTTP/2 carries other answers as well, so its bytes say nothing.
    """
    stream = response.extensions.get("network_stream")
    if stream is None or response.extensions.get("http_version") == b"HTTP/2":
        return lambda: False
    return lambda: bool(stream.get_extra_info("is_readable"))
