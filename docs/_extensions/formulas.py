"""Formulas as SVG, drawn when the pages are built.

They look the same in every browser and need neither script nor fonts nor a network.
"""

import html
import re
from typing import Any

import ziamath
from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

SIZE = 17  # of the letters, in pixels, as in the text around them
TALLEST = 8 * SIZE  # what is higher is drawn wrongly
UNKNOWN = re.compile(r"\\[a-zA-Z]+")

ziamath.config.svg2 = False  # glyphs as paths: shared symbols would need unique names per page


def draw(node: nodes.Element, *, inline: bool) -> str:
    """Return the picture of a formula; its source is the text for those who cannot see it."""
    latex = node.astext()
    for command in UNKNOWN.findall(convert(latex)):  # passed on unread by the converter
        logger.warning("the command %s of the formula %r is unknown", command, latex, location=node)
    formula = ziamath.Latex(latex, size=SIZE, inline=inline, color="currentColor")
    height = formula.getsize()[1]
    if height > TALLEST:  # brackets of \left and \right around a sum run away
        logger.warning("the formula %r is %.0f pixels high", latex, height, location=node)
    drop = formula.getyofst() if inline else 0
    attributes = (
        f'role="img" aria-label="{html.escape(latex)}" style="vertical-align: {drop:.2f}px"'
    )
    return formula.svg().replace("<svg ", f"<svg {attributes} ", 1)


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(draw(node, inline=True))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on its own line, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(draw(node, inline=False))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name `formulas`."""
    app.add_html_math_renderer("formulas", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
