"""The directive `drawing`: an SVG of docs/figures within the page, in the colours of the page.

An image by link cannot know whether the reader sees a light or a dark page. Within the page, what
is drawn in the ink of `tarry.palette` takes the colour of the text around it.
"""

import html
import re
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tarry.palette import INK

PREAMBLE = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>", re.DOTALL)
SIZE = re.compile(r'(<svg [^>]*?)\bwidth="([\d.]+)pt" height="[\d.]+pt"')
POINT = 4 / 3  # in pixels


class Drawing(SphinxDirective):
    """An SVG file with a text for those who cannot see it, and a caption."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "alt": directives.unchanged_required,
        "narrow": directives.flag,  # it can be read at the width of a phone
    }

    def run(self) -> list[nodes.Node]:
        """The picture and its caption."""
        name, place = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(name)
        if "alt" not in self.options:
            raise self.error("A drawing needs :alt:, a text for those who cannot see it.")
        try:
            picture = within_page(Path(place).read_text(), self.options["alt"])
        except OSError as error:
            raise self.error(f"The drawing {name!r} cannot be read: {error.strerror}.") from error
        narrow = ["narrow"] if "narrow" in self.options else []
        figure = nodes.container(classes=["drawing", *narrow])
        figure += nodes.raw("", f'<div class="picture">{picture}</div>', format="html")
        figure += self.parse_content_to_nodes()
        return [figure]


def within_page(svg: str, alt: str) -> str:
    """The SVG without what only a file of its own needs."""
    plain = PREAMBLE.sub("", svg).replace("fill: #ffffff", "fill: none").strip()
    for ink in (INK, "#000000"):
        plain = plain.replace(ink, "currentColor")
    width = float(SIZE.search(plain)[2]) * POINT  # type: ignore[index]  # matplotlib writes both
    start = f'role="img" aria-label="{html.escape(alt)}" style="width: {width:.0f}px"'
    return SIZE.sub(rf"\1{start}", plain, count=1)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("drawing", Drawing)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
