"""Settings for the examples in pages and docstrings: files that they write go elsewhere."""

from pathlib import Path

import pytest

HERE = "CONTRIBUTING.md"  # its examples are for who stands in the checkout, and read from docs/


@pytest.fixture(autouse=True)
def folder_of_its_own(request: pytest.FixtureRequest) -> None:
    """Each page, and each docstring with examples, runs in an empty folder."""
    if isinstance(request.node, pytest.DoctestItem) and request.node.path.name != HERE:
        folder: Path = request.getfixturevalue("tmp_path")
        request.getfixturevalue("monkeypatch").chdir(folder)
