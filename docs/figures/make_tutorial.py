"""Draw docs/figures/tutorial.svg and dwell.svg by running the examples of two tutorials.

Run it with: python docs/figures/make_tutorial.py
"""

import contextlib
import doctest
import os
import shutil
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FIGURES = {
    "tutorial.svg": ("researcher.md", "regret.svg"),  # ours: the page, and what the page calls it
    "dwell.svg": ("dwell.md", "pages.svg"),
}


def run_page(page: Path, folder: str) -> None:
    """Run the examples of a page within a folder."""
    with contextlib.chdir(folder):
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        doctest.testfile(os.fspath(page), module_relative=False, optionflags=flags)


if __name__ == "__main__":
    for name, (page, written) in FIGURES.items():
        with tempfile.TemporaryDirectory() as folder:
            run_page(HERE.parent / "tutorials" / page, folder)
            shutil.copy(Path(folder) / written, HERE / name)
