"""How a store lets go of its file: closing it, or, in a child of a fork, never touching it."""

import os
import sqlite3
import threading

from tarry.live.store.keeper import Keeper
from tarry.live.store.lock import FileLock

PATIENCE = 5.0  # seconds until a file is closed under the hands of whoever still uses it


def let_go(
    connections: tuple[sqlite3.Connection, ...],
    locks: tuple[threading.RLock, ...],
    file: FileLock,
    keeper: Keeper,
    process: int,
) -> None:
    """Close the file of a store that nobody closed, but never that of another process."""
    if os.getpid() != process:
        return
    keeper.stop(PATIENCE)  # it may be in the middle of a snapshot when the program ends
    for connection, lock in zip(connections, locks, strict=True):
        held = lock.acquire(timeout=PATIENCE)
        connection.close()
        if held:
            lock.release()
    file.close()


def keep_for_ever(connection: sqlite3.Connection) -> None:
    """See to it that nothing ever closes this connection, not even the end of the interpreter."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def missing(dropped: int) -> str:
    """What a file lacks that could not be written for so long that facts were dropped."""
    if not dropped:
        return "nothing is missing"
    return f"of {dropped} facts, too many to wait, only what they led to is in it"
