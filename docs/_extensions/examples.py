"""Examples without the empty line at their end, and coloured as what they are.

The tests need that line, to tell the last output of an example from the end of its block; readers
do not. Blocks of text and formulas are not coloured; what begins with >>> is Python.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def strip(app: Sphinx, tree: nodes.document) -> None:
    """Take empty lines from the end of every block of code."""
    blocks = [*tree.findall(nodes.literal_block), *tree.findall(nodes.doctest_block)]
    for block in blocks:
        text = block.astext().rstrip()
        if text.startswith(">>>"):
            block["language"] = "pycon"
        block.rawsource = text
        block.children = [nodes.Text(text)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at each page once it is read."""
    app.connect("doctree-read", strip)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
