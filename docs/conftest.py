"""Settings for the examples in these pages: files that they write go into a folder of their own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page runs in an empty folder."""
    monkeypatch.chdir(tmp_path)
