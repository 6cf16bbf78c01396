"""The way to a database: where it is, one connection to it, and what its errors mean."""

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tarry.errors import InputError, JournalError, MissingExtraError, TarryError

SCHEMES = ("postgresql://", "postgres://")
# A connection that is dead, though nobody said so, is noticed; what was given in the address stays.
OPTIONS = {
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
    "application_name": "tarry",
}
PATIENCE = 10.0  # seconds for each step of opening
LONGEST_NAME = 500  # characters, which an index can hold
NEVER_BY_ITSELF = 2**31  # a statement is prepared where we say so


def is_address(path: Any) -> bool:
    """Whether a path is the address of a database."""
    return isinstance(path, str) and path.startswith(SCHEMES)


def shown(address: str) -> str:
    """The address without a password."""
    try:
        parts = urlsplit(address)
        user, at, where = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=user.partition(":")[0] + at + where, query=""))
    except ValueError:
        return address.partition("@")[2] or SCHEMES[0]


def check_address(address: str, name: Any) -> str:
    """The address of a database, with the name of an agent in it."""
    if not isinstance(name, str) or not name or "\0" in name:
        raise InputError(
            f"The name is {name!r}; an agent in a database needs name=..., a text by which the "
            f"processes that share it know it."
        )
    if len(name) > LONGEST_NAME:
        raise InputError(
            f"The name of the agent has {len(name)} characters; give one of at most {LONGEST_NAME}."
        )
    check_text("name of the agent", name)
    if "\0" in address:
        raise InputError("The address of the database has a NUL in it; give proper text.")
    return address


def check_text(what: str, text: str) -> None:
    """Refuse what no database can hold as text."""
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError(
            f"The {what}, {text!r}, has characters that no database can hold; give proper text."
        )


def connected(address: str) -> Any:
    """A connection in which each statement is a transaction of its own."""
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtraError.of("An agent in PostgreSQL", "psycopg", "postgres") from error
    try:
        given = psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.ProgrammingError:  # which quotes the address, and a password in it
        raise InputError(
            "The address of the database is malformed; write it as postgresql://user@host:5432/db, "
            "and what is special in a name or password as %40 for @, %25 for %."
        ) from None
    options: dict[str, Any] = {key: value for key, value in OPTIONS.items() if key not in given}
    options["client_encoding"] = "UTF8"  # whatever the address or the environment says
    db = psycopg.connect(address, autocommit=True, **options)
    db.prepare_threshold = None if _is_pooled(db) else NEVER_BY_ITSELF
    return db


@contextlib.contextmanager
def bounded(db: Any, address: str) -> Iterator[None]:
    """Give up what takes too long in the block, most likely since somebody holds a lock."""
    given_up = threading.Event()

    def give_up() -> None:
        given_up.set()
        db.cancel()

    timer = threading.Timer(PATIENCE, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    except TarryError:
        raise
    except Exception as error:
        late = f"no answer for {PATIENCE:g} s; is a table locked?"
        why = late if given_up.is_set() else reason(error)
        raise cannot_open(address, why) from error
    finally:
        timer.cancel()


def check_encoding(db: Any, address: str) -> None:
    """Refuse a database that cannot hold every name."""
    encoding = db.execute("SHOW server_encoding").fetchone()[0]
    if encoding != "UTF8":
        raise JournalError(
            f"The database {shown(address)} has the encoding {encoding}, which cannot hold every "
            f"name; make one with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0."
        )


def _is_pooled(db: Any) -> bool:
    """Whether a pooler is between us and the server: it gives out numbers of its own.

    It may take another connection of the server for each transaction, which knows nothing of
    statements prepared on the one before.
    """
    said = db.execute("SELECT pg_backend_pid()", prepare=False).fetchone()[0]
    return bool(said != db.info.backend_pid)


def reason(error: BaseException) -> str:
    """What went wrong, in a few words."""
    first = str(error).strip().partition("\n")[0].rstrip(".")
    return first.rpartition("failed: ")[2] or type(error).__name__


def cannot_open(address: str, why: str) -> JournalError:
    """What to say of a database in which no agent can be opened."""
    return JournalError(
        f"The database {shown(address)} cannot be used ({why}); see that it runs, and that its "
        f"user may create the schema tarry, or use it."
    )


def abandon(connection: Any) -> None:
    """In a child of a fork: see to it that nothing ever speaks on the connection of the parent."""
    with contextlib.suppress(Exception):
        mute = os.open(os.devnull, os.O_RDWR)
        os.dup2(mute, connection.fileno())
        os.close(mute)
