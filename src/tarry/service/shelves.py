"""Where the agents of a service are kept: in memory, in files, in a database.

--store routes.db       a file: one agent, which has the file's name without its ending
--store agents/         a folder: any number of agents, a file each
--store postgresql://…  a database: any number of agents, shared with other processes
"""

import contextlib
import os
import re
import secrets
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, unquote

from tarry.errors import InputError, JournalError, TarryError
from tarry.live.store.lock import FileLock
from tarry.live.store.postgres.link import cannot_open, connected, is_address, reason, shown
from tarry.live.store.postgres.schema import bring_up_to_date
from tarry.service.problems import RefusedError

ENDING = ".db"
SECRET = 32  # bytes
MOST_AGENTS = 1000  # of a service
CONNECTIONS = 16  # of the database, one for each agent, that a service takes before it needs them
LONGEST_FILE = 200  # bytes of a file's name
SCHEME = re.compile(r"([A-Za-z][\w+.-]*):/")


class Shelf(Protocol):
    """A place for agents."""

    kind: str
    text: str  # where that is, for people
    single: bool  # whether it holds one agent, without which there is nothing to serve
    at_once: int  # how many of its agents are opened before anybody asks for them

    def hold(self) -> None:
        """Keep other services from what is here, unless it can be shared."""

    def let_go(self) -> None:
        """Let others have it."""

    def names(self) -> list[str]:
        """The agents that are here."""

    def settings(self, name: str) -> dict[str, Any] | None:
        """What an agent was made with; None if there is no such agent here."""

    def place(self, name: str) -> dict[str, Any]:
        """What to make an agent with so that it is kept here."""

    def secret(self) -> bytes:
        """What tokens are signed with: the same for all who serve what is here."""


def shelf_of(store: str | None) -> Shelf:
    """The place that `--store` names."""
    if store is None:
        return MemoryShelf()
    if is_address(store):
        return DatabaseShelf(store)
    path = checked(store)
    if path.is_dir() or not (path.suffix == ENDING or path.exists()):
        return FolderShelf(path)
    return FileShelf(path)


def checked(store: str) -> Path:
    """A path that can be a file or a folder of ours."""
    kinds = "a file such as routes.db, a folder, or postgresql://user@host/db"
    scheme = SCHEME.match(store)
    if scheme:  # the rest may hold a password
        raise InputError(f"The store is an address of the kind {scheme[1]}:; give {kinds}.")
    if not store.strip() or "\0" in store:
        raise InputError(f"The store is {store!r}; give {kinds}.")
    path = Path(store)
    try:
        odd = path.exists() and not (path.is_file() or path.is_dir())
    except OSError as error:
        raise InputError(f"The store {path} cannot be read ({error.strerror}).") from error
    if odd:
        raise InputError(f"The store {path} is neither a file nor a folder; give {kinds}.")
    return path


class MemoryShelf:
    """Nothing is kept."""

    kind = "memory"
    text = "in memory"
    single = False
    at_once = MOST_AGENTS

    def hold(self) -> None:
        """See `Shelf`; nobody else can see it."""

    def let_go(self) -> None:
        """See `Shelf`."""

    def names(self) -> list[str]:
        """See `Shelf`; those that are open are all there are."""
        return []

    def settings(self, name: str) -> dict[str, Any] | None:
        """See `Shelf`."""
        return None

    def place(self, name: str) -> dict[str, Any]:
        """See `Shelf`."""
        return {}

    def secret(self) -> bytes:
        """See `Shelf`; plays are gone with it."""
        return secrets.token_bytes(SECRET)


class FolderShelf:
    """A file for each agent."""

    kind = "sqlite"
    single = False
    at_once = MOST_AGENTS

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"The folder {folder} cannot be made ({error.strerror}).") from error
        self.folder = folder
        self.text = f"in the folder {folder}"
        self._lock: FileLock | None = None

    def hold(self) -> None:
        """See `Shelf`; the lock is on the folder itself, so no file can be lost or left behind."""
        self._lock = self._lock or held(self.folder, f"The folder {self.folder}", make=False)

    def let_go(self) -> None:
        """See `Shelf`."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def names(self) -> list[str]:
        """See `Shelf`."""
        found = self.folder.glob(f"*{ENDING}")
        return sorted(unquote(path.name.removesuffix(ENDING)) for path in found)

    def settings(self, name: str) -> dict[str, Any] | None:
        """See `Shelf`."""
        return settings_in(self._path(name))

    def place(self, name: str) -> dict[str, Any]:
        """See `Shelf`."""
        return {"path": self._path(name)}

    def secret(self) -> bytes:
        """See `Shelf`."""
        return secret_in(self.folder / "tarry-secret")

    def _path(self, name: str) -> Path:
        file = quote(name, safe=" ") + ENDING
        if len(file) > LONGEST_FILE:
            raise InputError(f"The name {name[:20]!r}... is too long for a file; give a shorter.")
        return self.folder / file.replace(".", "%2E", file.startswith("."))


class FileShelf:
    """One agent in one file."""

    kind = "sqlite"
    single = True
    at_once = 1

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.stem
        self.text = f"in the file {path}"
        self._lock: FileLock | None = None

    def hold(self) -> None:
        """See `Shelf`; the lock is on a file beside it, since the journal itself comes with PUT."""
        beside = self.path.with_name(self.path.name + "-lock")
        self._lock = self._lock or held(beside, f"The file {self.path}", make=True)

    def let_go(self) -> None:
        """See `Shelf`."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def names(self) -> list[str]:
        """See `Shelf`."""
        return [self.name] if self.path.exists() else []

    def settings(self, name: str) -> dict[str, Any] | None:
        """See `Shelf`."""
        return settings_in(self.path) if name == self.name else None

    def place(self, name: str) -> dict[str, Any]:
        """See `Shelf`."""
        if name != self.name:
            raise RefusedError(
                "conflict",
                f"This service keeps its agent in the file {self.path.name}, which holds the agent "
                f"{self.name!r} alone; start it with a folder as --store for several.",
            )
        return {"path": self.path}

    def secret(self) -> bytes:
        """See `Shelf`."""
        return secret_in(self.path.with_name(self.path.name + "-secret"))


class DatabaseShelf:
    """Agents that other processes may have as well."""

    kind = "postgres"
    single = False
    at_once = CONNECTIONS

    def __init__(self, address: str) -> None:
        self.address = address
        self.text = f"in {shown(address)}"
        with self._connected() as db:
            bring_up_to_date(db)

    def hold(self) -> None:
        """See `Shelf`; it is shared."""

    def let_go(self) -> None:
        """See `Shelf`."""

    def names(self) -> list[str]:
        """See `Shelf`."""
        with self._connected() as db:
            return [name for (name,) in db.execute("SELECT name FROM tarry.agent ORDER BY name")]

    def settings(self, name: str) -> dict[str, Any] | None:
        """See `Shelf`."""
        if "\0" in name:
            return None
        query = "SELECT settings FROM tarry.agent WHERE name = %s"
        with self._connected() as db:
            row = db.execute(query, (name,)).fetchone()
        return None if row is None else dict(row[0])

    def place(self, name: str) -> dict[str, Any]:
        """See `Shelf`."""
        return {"path": self.address, "name": name}

    def secret(self) -> bytes:
        """See `Shelf`; whoever comes first makes it."""
        with self._connected() as db, db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", (0x74617273,))
            db.execute(
                "CREATE TABLE IF NOT EXISTS tarry.service (name text PRIMARY KEY, value bytea)"
            )
            db.execute(
                "INSERT INTO tarry.service VALUES ('secret', %s) ON CONFLICT DO NOTHING",
                (secrets.token_bytes(SECRET),),
            )
            row = db.execute("SELECT value FROM tarry.service WHERE name = 'secret'").fetchone()
            return bytes(row[0])

    @contextlib.contextmanager
    def _connected(self) -> Any:
        try:
            with connected(self.address) as db:
                yield db
        except TarryError:
            raise
        except Exception as error:
            raise cannot_open(self.address, reason(error)) from error


def held(path: Path, what: str, *, make: bool) -> FileLock:
    """A lock that says by `what` is meant that another service has it."""
    try:
        return FileLock(path, make=make)
    except JournalError as error:
        if isinstance(error.__cause__, BlockingIOError):
            raise InputError(
                f"{what} is served by another process; end that one, or give another --store."
            ) from error
        why = getattr(error.__cause__, "strerror", error)
        raise InputError(f"{what} cannot be opened or locked ({why}).") from error


def settings_in(path: Path) -> dict[str, Any] | None:
    """What the agent in a file was made with; None if there is none."""
    from tarry.live.store.opening import explained, locked
    from tarry.live.store.schema import check_head, connect, read_settings

    if not path.exists() or not path.stat().st_size:
        return None
    lock = locked(path, make=False)
    try:
        check_head(lock.head(), path)
        with explained(path):
            db = connect(path)
            try:
                return read_settings(db, path)
            finally:
                db.close()
    finally:
        lock.close()


def secret_in(path: Path) -> bytes:
    """The secret in a file; made if there is none, readable for nobody else."""
    try:
        return _read_or_made(path)
    except OSError as error:
        raise InputError(
            f"The secret of the service cannot be kept in {path} ({error.strerror}); see that the "
            f"folder can be written."
        ) from error


def _read_or_made(path: Path) -> bytes:
    for _ in range(2):
        with contextlib.suppress(FileNotFoundError):
            secret = bytes.fromhex(path.read_text().strip())
            if len(secret) >= SECRET:
                return secret
            raise JournalError(f"The secret {path} is too short; delete it to get a new one.")
        draft = path.with_name(f"{path.name}.{secrets.token_hex(6)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(SECRET) + "\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)  # whoever comes first has made it
        draft.unlink()
    return bytes.fromhex(path.read_text().strip())
