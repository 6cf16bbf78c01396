"""The fingerprint of the sources: it sees what decides a run, and nothing else."""

import os
from pathlib import Path

from tarry.fingerprint import fingerprint_of, sources


def test_it_sees_content_and_names_alone(tmp_path: Path) -> None:
    """Any change to a source or its name gives another fingerprint; touching it does not."""
    (tmp_path / "policies").mkdir()
    source = tmp_path / "policies" / "a.py"
    source.write_text("x = 1\n")
    first = fingerprint_of(tmp_path)
    os.utime(source, (1, 1))
    assert fingerprint_of(tmp_path) == first
    source.write_text("x = 2\n")
    second = fingerprint_of(tmp_path)
    source.rename(tmp_path / "policies" / "b.py")
    assert len({first, second, fingerprint_of(tmp_path)}) == 3


def test_it_does_not_see_what_cannot_change_a_run(tmp_path: Path) -> None:
    """A change of a figure or of the command line leaves kept results and machine code valid."""
    (tmp_path / "experiments").mkdir()
    (tmp_path / "ledger.py").write_text("x = 1\n")
    before = fingerprint_of(tmp_path)
    (tmp_path / "experiments" / "figures.py").write_text("x = 1\n")
    assert fingerprint_of(tmp_path) == before
    (tmp_path / "new_part.py").write_text("x = 1\n")
    assert fingerprint_of(tmp_path) != before


def test_folders_of_machine_code_are_left_alone(tmp_path: Path) -> None:
    """Another process may be removing one of them."""
    (tmp_path / "policies" / "__pycache__" / "compiled-1").mkdir(parents=True)
    (tmp_path / "policies" / "__pycache__" / "compiled-1" / "left.py").touch()
    (tmp_path / "policies" / "rule.py").touch()
    assert [path.name for path in sources(tmp_path)] == ["rule.py"]
