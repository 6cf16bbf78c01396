"""The files of an open journal: whether they are still those that were opened."""

from pathlib import Path

from tarry.live.store.lock import FileLock, inode, size_of
from tarry.live.store.wal import wal_path


class Files:
    """The locked file at `path`, and the write-ahead log that SQLite keeps beside it."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.lock = lock
        self._path = path
        self._log = inode(wal_path(path))
        self._size = lock.size()  # of the file itself, which others must not shorten

    def check(self) -> None:
        """Refuse to write into files that are no longer there."""
        if not self.lock.is_at(self._path):
            raise OSError("the file was deleted or replaced while it was in use")
        if self.lock.size() < self._size:
            raise OSError("the file was cut short while it was in use")
        if self._log and inode(wal_path(self._path)) != self._log:
            raise OSError("its write-ahead log was deleted or replaced while it was in use")

    def log_size(self) -> int:
        """Bytes of the write-ahead log, which is known from its first commit on."""
        if not self._log:
            self._log = inode(wal_path(self._path))
        return size_of(wal_path(self._path))

    def folded(self) -> None:
        """The log was folded into the file, which may have grown."""
        self._size = self.lock.size()
