"""The reference of the HTTP interface as a page in Markdown: python -m tarry.service.reference."""

import sys
from collections.abc import Iterator
from typing import Any

from tarry.service.app import HANDLERS
from tarry.service.openapi import described, problems_of
from tarry.service.operations import OPERATIONS, Operation, Role
from tarry.service.problems import KINDS, MEDIA, PREFIX

HEAD = f"""# The HTTP interface

What `tarry serve` answers. This page is made from the code, as is `/openapi.json`.

- Bodies and answers are JSON. Times are in seconds.
- The id of a play is *text*: it has more digits than the numbers of JavaScript hold.
- Names in an address are escaped: `a/b` is `a%2Fb`.
- With keys set, a request has `Authorization: Bearer KEY`; a page has its key in the body.

[The service](service.md) has the rest: keys, limits, what is safe to send again.

An error is `{MEDIA.decode()}` with `type`, `title`, `status` and `detail`, which is one
sentence. `type` is `{PREFIX}` and the kind:

"""
NAMES = [module.__name__ for module in HANDLERS]
PAGES = """For browsers, from an origin of the key. The body is JSON sent as `text/plain`:
no preflight is needed, and `sendBeacon` works."""
SECTIONS = {
    Role.DECIDE: ("Playing and looking", "A key with the role *decide* or *manage*."),
    Role.MANAGE: ("Managing", "A key with the role *manage*."),
    Role.PAGE: ("Pages", PAGES),
    Role.OPEN: ("For everybody", "No key is needed."),
}


def reference() -> str:
    """The whole page."""
    document = described()
    ours = [one for name in NAMES for one in OPERATIONS if one.handle.__module__ == name]
    lines = [HEAD + _problems()]
    for role, (title, who) in SECTIONS.items():
        lines += [f"## {title}", "", who, ""]
        for one in ours:
            if one.role == role:
                lines += [*_operation(one, document), ""]
    return "\n".join(lines).rstrip() + "\n"


def _problems() -> str:
    rows = [f"| {kind} | {status} | {title} |" for kind, (status, title) in KINDS.items()]
    return "\n".join(["| kind | status | |", "| --- | --- | --- |", *rows, ""])


def _operation(one: Operation, document: dict[str, Any]) -> Iterator[str]:
    yield f"### {one.name}"
    yield ""
    yield f"`{one.method} {one.path}`"
    yield ""
    yield one.summary
    yield ""
    for name, meaning in (*one.query.items(), *one.headers.items()):
        kind = "query" if name in one.query else "header"
        yield f"`{name}` ({kind})\n: {meaning}\n"
    if one.takes is not None:
        yield from _fields("Body", one.takes.__name__, document)
    if hasattr(one.gives, "__struct_fields__"):
        yield from _fields("Answer", one.gives.__name__, document)
    good = ", ".join(f"{status} ({text.rstrip('.').lower()})" for status, text in _statuses(one))
    bad = ", ".join(f"{KINDS[kind][0]} {kind}" for kind in problems_of(one))
    yield f"Status: {good or '200'}{f'; refused with {bad}' if bad else ''}."


def _statuses(one: Operation) -> list[tuple[int, str]]:
    """The good statuses, if there is something to say about them."""
    return [(status, text) for status, text in one.statuses.items() if text != one.summary]


def _fields(what: str, name: str, document: dict[str, Any]) -> Iterator[str]:
    schema = document["components"]["schemas"][name]
    if not schema.get("properties"):
        return
    needed = schema.get("required", [])
    yield f"| {what} | | |"
    yield "| --- | --- | --- |"
    for field, about in schema["properties"].items():
        kind = _kind(about)
        if what == "Body" and field not in needed:
            kind = f"{kind}, optional"
        yield f"| `{field}` | {kind} | {_meaning(about)} |"
    yield ""


def _kind(about: dict[str, Any]) -> str:
    """The type of a field in words."""
    if "anyOf" in about:
        kinds = [_kind(each) for each in about["anyOf"]]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in about:
        return " or ".join(f'"{each}"' for each in about["enum"])
    if "$ref" in about:
        return "object"
    words = {"string": "text", "number": "number", "integer": "whole number", "boolean": "bool"}
    kind = about.get("type", "anything")
    if kind == "array":
        return f"list of {_kind(about['items'])}"
    if kind == "object":
        return "object"
    return str(words.get(kind, kind))


def _meaning(about: dict[str, Any]) -> str:
    """What is said of a field, of the first kind that says something."""
    for each in (about, *about.get("anyOf", ())):
        if "description" in each:
            return str(each["description"])
    if about.get("type") == "array":
        return _meaning(about["items"])
    return ""


if __name__ == "__main__":
    sys.stdout.write(reference())
