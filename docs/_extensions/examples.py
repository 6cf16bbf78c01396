"""Examples without the empty line at their end.

The tests need it, to tell the last output of an example from the end of its block; readers do not.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def strip(app: Sphinx, tree: nodes.document) -> None:
    """Take empty lines from the end of every block of code."""
    for block in tree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.rawsource = text
        block.children = [nodes.Text(text)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at each page once it is read."""
    app.connect("doctree-read", strip)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
