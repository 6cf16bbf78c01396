"""The way to a database: where it is, one connection to it, and what its errors mean."""

import contextlib
import os
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tarry.errors import InputError, JournalError, MissingExtraError

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
    if "\0" in address:
        raise InputError("The address of the database has a NUL in it; give proper text.")
    return address


def connected(address: str) -> Any:
    """A connection in which each statement is a transaction of its own."""
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtraError.of("An agent in PostgreSQL", "psycopg", "postgres") from error
    given = psycopg.conninfo.conninfo_to_dict(address)
    options: dict[str, Any] = {key: value for key, value in OPTIONS.items() if key not in given}
    return psycopg.connect(address, autocommit=True, **options)


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
