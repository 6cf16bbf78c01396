"""Draw docs/figures/tutorial.svg by running the examples of the tutorial for researchers.

Run it with: python docs/figures/make_tutorial.py
"""

import contextlib
import doctest
import os
import shutil
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "tutorials" / "researcher.md"


def run_page(folder: str) -> None:
    """Run the examples of the page within a folder."""
    with contextlib.chdir(folder):
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        doctest.testfile(os.fspath(PAGE), module_relative=False, optionflags=flags)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run_page(folder)
        shutil.copy(Path(folder) / "regret.svg", HERE / "tutorial.svg")
