"""What can be asked for: one table, from which routes, OpenAPI and reference are made."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from tarry.service.problems import RefusedError

if TYPE_CHECKING:
    from tarry.service.keys import Key
    from tarry.service.service import Service


class Role(StrEnum):
    """What a caller may do; a manager may do what a decider may."""

    MANAGE = "manage"
    DECIDE = "decide"
    PAGE = "page"
    OPEN = "open"  # everybody


class Call(NamedTuple):
    """A request, checked, on its way to who answers it."""

    service: "Service"
    key: "Key"
    words: dict[str, str]  # of the path
    body: Any
    query: dict[str, str]
    headers: Mapping[bytes, bytes]
    address: str  # of who calls


Handler = Callable[[Call], Awaitable[Any]]


@dataclass(frozen=True)
class Answer:
    """What is answered beside a body of the usual status."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Operation:
    """One thing that can be asked for."""

    name: str
    method: str
    path: str
    role: Role
    summary: str
    handle: Handler
    takes: Any = None  # the type of the body
    gives: Any = None  # the type of the answer; None is none
    refuses: tuple[str, ...] = ()  # kinds of problems beside those that all have
    query: Mapping[str, str] = field(default_factory=dict)  # what each word means
    headers: Mapping[str, str] = field(default_factory=dict)  # what each request header means
    statuses: Mapping[int, str] = field(default_factory=dict)  # of good answers

    @property
    def words(self) -> list[str]:
        """The names in braces of the path."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


OPERATIONS: list[Operation] = []


def operation(method: str, path: str, role: Role, **told: Any) -> Callable[[Handler], Handler]:
    """Mark the function that answers; its name and first sentence are those of the operation."""

    def mark(handle: Handler) -> Handler:
        summary = (handle.__doc__ or "").partition("\n")[0]
        name = handle.__name__
        told.setdefault("statuses", {200: summary})
        OPERATIONS.append(
            Operation(name, method, path, role, summary=summary, handle=handle, **told)
        )
        return handle

    return mark


class Router:
    """Finds the operation of a path by its pieces, each of which is decoded by itself.

    So a name may hold a slash, as %2F.
    """

    def __init__(self, operations: list[Operation]) -> None:
        self._tree: dict[str, Any] = {}
        for one in operations:
            here = self._tree
            for part in one.path.strip("/").split("/"):
                here = here.setdefault("{}" if part.startswith("{") else part, {})
            here.setdefault("", {})[one.method] = one, one.words

    def find(self, method: str, raw_path: bytes) -> tuple[Operation, dict[str, str]]:
        """The operation, and the words of its path."""
        here: dict[str, Any] | None = self._tree
        values: list[str] = []
        for part in raw_path.decode("latin-1").strip("/").split("/"):
            if here is None:
                break
            if part in here and part != "{}":
                here = here[part]
            elif part:
                here = here.get("{}")
                values.append(part)
            else:
                here = None
        found = here.get("") if here else None
        if not found:
            raise RefusedError(
                "path", "Nothing is at this address; /openapi.json lists what there is."
            )
        if method == "HEAD" and "GET" in found:
            method = "GET"  # the server leaves the body out
        if method not in found:
            allowed = ", ".join(sorted({*found, "HEAD"} if "GET" in found else found))
            raise RefusedError(
                "method", f"This address takes {allowed}, not {method}.", {"allow": allowed}
            )
        one, words = found[method]
        return one, dict(zip(words, map(decoded, values), strict=True)) if words else {}


def decoded(part: str) -> str:
    """A piece of a path as text."""
    try:
        return unquote(part, errors="strict") if "%" in part else part.encode("latin-1").decode()
    except UnicodeError as error:
        raise RefusedError("input", "The address is not UTF-8.") from error
