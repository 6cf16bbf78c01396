"""Settings of Sphinx; the pages load nothing from elsewhere, so they read without a network."""

import sys
from pathlib import Path

import tarry

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "tarry"
author = "The tarry authors"
project_copyright = "The tarry authors"
version = release = tarry.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "code_links",
    "docstrings",
    "drawings",
    "examples",
    "formulas",
]
exclude_patterns = ["_extensions"]

html_theme = "furo"
html_title = f"tarry {version}"
html_math_renderer = "formulas"
html_static_path = ["_static"]
html_css_files = ["tarry.css"]
html_show_sphinx = False
html_copy_source = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

default_role = "py:obj"
highlight_language = "none"  # a block is coloured as code only where it says that it is
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
