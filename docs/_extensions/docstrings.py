"""Docstrings as they are written here, made ready for Sphinx.

They are plain text with formulas: an indented paragraph is meant to stay as it is, and |S| and mu*
are no markup. The fields of NamedTuples and dataclasses are explained by comments behind them;
here these become a list. Signatures lose what only a type checker wants to know of an array.
"""

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from sphinx.application import Sphinx

SECTION = re.compile(r"(Args|Returns|Raises|Yields|Attributes|Example|Examples):$")
TABLE = re.compile(r"\S {2,}\S")
MARKUP = re.compile(r"(\||(?<=\w)\*|(?<=\w)_(?!\w))")
MEANT = re.compile(r"(`+[^`]*`+|(?<![\w*])\*\w(?:[^*]*[\w.])?\*(?![\w*]))")  # code, emphasis

ARRAYS = re.compile(r"~?[\w.]*ndarray\[tuple\[~?[\w.]*Any, \.\.\.\], ~?[\w.]*dtype\[[~\w.]+\]\]")
ARRAY_LIKE = re.compile(r"~?[\w.]*_Buffer \| .*?_NestedSequence\[complex \| bytes \| str\]")


def prepare(app: Sphinx, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Change `lines`, a docstring, in place."""
    lines[:] = [*without_markup(lines)]
    if what == "property" and lines:
        lines[0] = lines[0].replace(": ", r"\: ")  # napoleon takes what is before it for a type
    if what == "class" and not any(line.startswith("Args:") for line in lines):
        lines += [*field_list(item)]


def without_markup(lines: list[str]) -> Iterator[str]:
    """Formulas and tables as literal blocks, signs of formulas in the text as themselves."""
    before, section = "", False
    for spaces, group in itertools.groupby(lines, key=lambda line: not line.strip()):
        paragraph = list(group)
        first = paragraph[0]
        indented = all(line.startswith("    ") for line in paragraph)
        section = bool(SECTION.match(first)) or (section and (spaces or indented))
        if spaces or first.lstrip().startswith(">>>") or (indented and before.endswith("::")):
            yield from paragraph
        elif not section and (indented or any(map(TABLE.search, paragraph))):
            yield from ("::", "")
            yield from (line if indented else f"    {line}" for line in paragraph)
        else:
            yield from map(escaped, paragraph)
        before = before if spaces else paragraph[-1]


def escaped(line: str) -> str:
    """A line whose bars, stars and trailing underscores are no markup; what is meant stays."""
    parts = MEANT.split(line)
    return "".join(part if k % 2 else MARKUP.sub(r"\\\1", part) for k, part in enumerate(parts))


def field_list(cls: type[Any]) -> Iterator[str]:
    """The fields of a class that are explained by a comment behind them."""
    comments = dict(fields_with_comments(cls))
    if comments:
        yield ""
    for field, comment in comments.items():
        yield f"* ``{field}``: {escaped(comment)}"
    if comments:
        yield ""


def fields_with_comments(cls: type[Any]) -> Iterator[tuple[str, str]]:
    """Names and comments of the annotated fields in the source of a class."""
    try:
        source = textwrap.dedent(inspect.getsource(cls))
    except (OSError, TypeError):
        return
    lines = source.splitlines()
    (definition,) = ast.parse(source).body
    for part in getattr(definition, "body", []):
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            _, sign, comment = lines[part.lineno - 1].partition("  # ")
            if sign and not comment.startswith(("type:", "noqa")):
                yield part.target.id, comment


def shorten(
    app: Sphinx,
    what: str,
    name: str,
    item: Any,
    options: Any,
    signature: str | None,
    back: str | None,
) -> tuple[str | None, str | None]:
    """A signature, and what comes back, with short names for arrays."""

    def short(text: str | None) -> str | None:
        return text and ARRAYS.sub("ndarray", ARRAY_LIKE.sub("ArrayLike", text))

    return short(signature), short(back)


def skip(app: Sphinx, what: str, name: str, item: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out the fields of NamedTuples, and `start` of all policies but the protocol.

    "Alias for field number 3" tells nobody anything.
    """
    if type(item).__name__ == "_tuplegetter":
        return True
    return (name == "start" and item.__qualname__ != "Policy.start") or None


def setup(app: Sphinx) -> dict[str, Any]:
    """Come before napoleon, which reads the sections."""
    app.connect("autodoc-process-docstring", prepare, priority=400)
    app.connect("autodoc-process-signature", shorten)
    app.connect("autodoc-skip-member", skip)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
