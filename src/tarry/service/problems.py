"""Errors as problem+json (RFC 9457): a status, a kind for programs, one sentence for people."""

from collections.abc import Mapping

import msgspec

from tarry.errors import (
    ConflictError,
    InputError,
    JournalError,
    LiveError,
    TarryError,
    UnknownPlayError,
)
from tarry.service.messages import Problem

PREFIX = "urn:tarry:problem:"
MEDIA = b"application/problem+json"

# kind: status, title
KINDS: dict[str, tuple[int, str]] = {
    "input": (400, "The request is wrong"),
    "key": (401, "A key is needed"),
    "role": (403, "Not with this key"),
    "token": (403, "Not with this token"),
    "origin": (403, "Not from this origin"),
    "agent": (404, "No such agent"),
    "play": (404, "No such play"),
    "arm": (404, "No such arm"),
    "path": (404, "Nothing is here"),
    "method": (405, "Not by this method"),
    "late": (408, "Too slow"),
    "conflict": (409, "A contradiction"),
    "state": (409, "Not now"),
    "size": (413, "Too large"),
    "media": (415, "Not of this type"),
    "host": (421, "Not under this name"),
    "rate": (429, "Too often"),
    "head": (431, "Too large a head"),
    "bug": (500, "An error of the service"),
    "store": (503, "The store is away"),
}


# What sentences of agents say in Python, and how it is called in JSON.
IN_JSON = (
    (
        "float, tarry.numeric(...), tarry.cyclic(period) or a list of different texts",
        '{} or {"log": true} for a number, {"period": 24} or {"values": [...]} of different texts',
    ),
    ("make one with features={...}", 'make one with "features"'),
    ("tarry.SurvivalRegression() does", "SurvivalRegression does"),
    ("a dict", "an object"),
    ("None", "null"),
)
ALLOWED = ("give ", "it must be ", "make one with ", "tarry.")  # how it begins to say what is


class RefusedError(TarryError):
    """A request that is refused, of a kind that only HTTP knows."""

    def __init__(self, kind: str, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.headers = dict(headers or {})


def kind_of(error: BaseException) -> str:
    """What kind of problem an error is."""
    if isinstance(error, RefusedError):
        return error.kind
    for cls, kind in (
        (InputError, "input"),
        (UnknownPlayError, "play"),
        (ConflictError, "conflict"),
        (JournalError, "store"),
        (LiveError, "state"),
    ):
        if isinstance(error, cls):
            return kind
    return "bug"


def in_json(sentence: str) -> str:
    """A sentence of an agent in the language of those who speak JSON.

    What is allowed stands at its end, behind a semicolon; names and values before it are left as
    they were given.

    >>> in_json("The feature 'None' is 'a'; it must be a number, or None.")
    "The feature 'None' is 'a'; it must be a number, or null."
    """
    wrong, semicolon, allowed = sentence.rpartition("; ")
    if not allowed.startswith(ALLOWED):
        return sentence
    for python, json in IN_JSON:
        allowed = allowed.replace(python, json)
    return wrong + semicolon + allowed


def problem(kind: str, sentence: str) -> tuple[int, bytes]:
    """The status and the body that say so."""
    status, title = KINDS[kind]
    return status, msgspec.json.encode(Problem(PREFIX + kind, title, status, sentence))
