"""Work that is done behind everybody's back, by a thread that lives as long as that takes."""

import logging
import threading
from collections.abc import Callable

from tarry.live.store.postgres.link import reason

log = logging.getLogger("tarry")


class Tidying:
    """One thing at a time; what fails is done another day."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._thread: threading.Thread | None = None

    def is_busy(self) -> bool:
        """Whether something is being done."""
        return self._thread is not None

    def do(self, work: Callable[[], None]) -> None:
        """Do this, unless something else is being done."""

        def run() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001  # the database is away, say
                log.info("The agent %s: no snapshot was written (%s).", self._where, reason(error))
            finally:
                self._thread = None

        if self._thread is None:
            self._thread = threading.Thread(target=run, name="tarry-snapshot", daemon=True)
            self._thread.start()

    def wait(self, patience: float) -> None:
        """Return when nothing is being done, or after so many seconds."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(patience)
