"""The map of the paper leads to the code: every name on it links to its line in the source.

`tarry.ledger.Ledger` and `tests/test_ledger.py::test_x` become links to pages with the sources,
which are a part of the built documentation and so need no network.
"""

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

ROOT = Path(__file__).parents[2]
PAGE = "paper-map"
TEST = re.compile(r"(tests/[\w/.]+\.py)(?:::(\w+))?$")


def place_of(name: str) -> tuple[Path, int] | None:
    """The file and line of a dotted name of the package or of a test."""
    test = TEST.match(name)
    if test:
        path = ROOT / test[1]
        head = f"def {test[2]}(" if test[2] else ""
        lines = path.read_text().splitlines()
        return path, next((k for k, line in enumerate(lines, 1) if head and head in line), 1)
    if not name.startswith("tarry."):
        return None
    item: Any = found(name)
    if item is None:
        return None
    line = 1 if inspect.ismodule(item) else inspect.getsourcelines(item)[1]
    return Path(inspect.getsourcefile(item) or ""), line


def found(name: str) -> Any:
    """What a dotted name means, None if it has no source of its own."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            item: Any = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            item = inspect.getattr_static(item, part, None) or getattr(item, part, None)
            item = getattr(item, "fget", None) or getattr(item, "func", None) or item
        ours = inspect.ismodule(item) or inspect.isclass(item) or inspect.isfunction(item)
        return item if ours else None
    return None


def page_name(path: Path) -> str:
    """The name of the page with this source."""
    inside = path.resolve().relative_to(ROOT).with_suffix("").as_posix()
    return f"code/{inside.removeprefix('src/')}"


def link(app: Sphinx, tree: nodes.document) -> None:
    """Turn the names on the map into links, and remember which sources they lead to."""
    if app.env.docname != PAGE:
        return
    wanted: set[str] = set()
    for literal in list(tree.findall(nodes.literal)):
        place = place_of(literal.astext())
        if place is None:
            continue
        path, line = place
        wanted.add(str(path))
        address = f"{page_name(path)}.html#line-{line}"
        reference = nodes.reference("", "", literal.deepcopy(), refuri=address, internal=True)
        literal.replace_self(reference)
    app.env.metadata[PAGE]["sources"] = sorted(wanted)


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each source that is linked."""
    bridge = PygmentsBridge("html")
    for source in app.env.metadata[PAGE].get("sources", []):
        path = Path(source)
        title = path.resolve().relative_to(ROOT).as_posix()
        body = bridge.highlight_block(path.read_text(), "python", lineanchors="line")
        context = {"title": title, "body": f"<h1>{title}</h1>{body}", "parents": []}
        yield page_name(path), context, "page.html"


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at the map once it is read, and write the sources at the end."""
    app.connect("doctree-read", link)
    app.connect("html-collect-pages", pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
