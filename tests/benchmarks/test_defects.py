"""The script behind the page on the paper's defects."""

import math

import pytest

from benchmarks import defects


def test_every_table_can_be_made(capsys: pytest.CaptureFixture[str]) -> None:
    """With tiny runs the script prints one table per section, each row as wide as its head."""
    defects.main(["--quick"])
    printed = capsys.readouterr().out
    for title in defects.SECTIONS:
        assert title in printed
    tables = [block for block in printed.split("\n\n") if block.startswith("|")]
    assert len(tables) == len(defects.SECTIONS)
    for block in tables:
        assert len({line.count("|") for line in block.splitlines()}) == 1


def test_l3_is_silent_with_27_arms() -> None:
    """At T = 150 000 and D = 5000, L3 needs 193 missing plays; 27 arms have room for 186."""
    rows = {row[0]: row[1:] for row in defects.silent_l3(defects.FULL)}
    assert rows[30] == (167, 193)
    assert rows[27][0] < rows[27][1]
    assert rows[26][0] >= rows[26][1]
    assert rows[30][1] == math.ceil(16 * math.log(150_000) + 2)


def test_sepk_grows_where_its_printed_bound_does_not() -> None:
    """With ten times the D the regret trebles, while the printed bound hardly moves."""
    size = defects.QUICK
    rows = defects.sepk_theorem(size)[1:]
    safe = [float(row[4]) for row in rows]
    regret = [float(row[2]) for row in rows]
    assert all(paid < bound for paid, bound in zip(regret, safe, strict=True))
    assert regret[1] / regret[0] > 2.5
    assert float(rows[1][3]) / float(rows[0][3]) < 1.3
