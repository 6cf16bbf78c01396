"""Problem files: exact, small, complete or not there, and refused when they are not ours."""

import hashlib
import json
import os
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarry.errors import ProblemFileError
from tarry.problems import (
    FAMILIES,
    Problem,
    bernoulli,
    deterministic,
    from_pmf,
    hard_close,
    load,
    replay,
    truncated_normal,
)

EXAMPLES: dict[str, Problem] = {
    **{name: family(3, 50, seed=2) for name, family in FAMILIES.items()},
    "hard": hard_close(20, 400),
    "replay": replay([[1, 2], [3, 4], [0, 4]], 4, names=["ä\n", "b"]),
    "names": deterministic({"fra": 1, "ams\u2028": 2**31 - 2}, 2**31 - 2),
    "thirds": from_pmf([([0, 1, 2], [1 / 3] * 3), ([5, 9], [1e-300, 1])], 9),
}


@pytest.mark.parametrize("problem", EXAMPLES.values(), ids=EXAMPLES)
def test_file_gives_back_the_problem(problem: Problem, tmp_path: Path) -> None:
    """What is read equals what was written, bit by bit, with its label."""
    path = tmp_path / "problem.tarry"
    problem.save(path)
    again = load(path)
    assert again == problem
    assert again.label == problem.label
    assert type(again) is type(problem)
    assert list(tmp_path.iterdir()) == [path]


@given(st.lists(st.floats(1e-12, 1), min_size=1, max_size=20))
def test_probabilities_survive_exactly(tmp_path_factory: Any, weights: list[float]) -> None:
    """No probability changes by a bit, whatever its digits."""
    path = tmp_path_factory.mktemp("file") / "p"
    shares = [weight / sum(weights) for weight in weights]
    problem = from_pmf([(range(len(shares)), shares)], 20)
    problem.save(str(path))
    assert load(str(path)) == problem


def test_files_are_small(tmp_path: Path) -> None:
    """Two-point laws take a kilobyte; dense ones at most ten bytes per probability."""
    path = tmp_path / "p"
    bernoulli(30, 5000).save(path)
    assert path.stat().st_size < 1200
    problem = truncated_normal(4, 5000)
    problem.save(path)
    assert path.stat().st_size < 10 * sum(len(law.values) for law in problem.laws)


@pytest.mark.parametrize("name", ["bernoulli", "replay"])
def test_every_cut_is_refused(name: str, tmp_path: Path) -> None:
    """A file cut short at any byte is refused in one sentence that names it."""
    path = tmp_path / "p"
    EXAMPLES[name].save(path)
    content = path.read_bytes()
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(ProblemFileError, match="cannot be used: it is") as caught:
            load(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_every_damaged_byte_is_noticed(tmp_path: Path) -> None:
    """Changing any single byte, or adding one, is refused."""
    path = tmp_path / "p"
    EXAMPLES["hard"].save(path)
    content = path.read_bytes()
    for index in range(len(content)):
        path.write_bytes(content[:index] + bytes([content[index] ^ 1]) + content[index + 1 :])
        with pytest.raises(ProblemFileError):
            load(path)
    path.write_bytes(content + b"x")
    with pytest.raises(ProblemFileError, match="checksum"):
        load(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cut short"),
        (b"hello", "not a problem file of tarry"),
        (b'{"a": 1}\n', "not a problem file of tarry"),
        (b"\x93NUMPY\x01\x00", "not a problem file of tarry"),
        (b"tarry problem 2 abc\n{}", "it has version 2, but this tarry reads version 1"),
        (b"tarry problem\n", "not a problem file of tarry"),
    ],
)
def test_foreign_files_are_refused(content: bytes, words: str, tmp_path: Path) -> None:
    """Files of others, and of a later tarry, are refused with the reason."""
    path = tmp_path / "p"
    path.write_bytes(content)
    with pytest.raises(ProblemFileError, match=words):
        load(path)


def forged(facts: Any, arrays: bytes) -> bytes:
    """A file with a right checksum and any content."""
    body = json.dumps(facts).encode() + b"\n" + zlib.compress(arrays)
    return b"tarry problem 1 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


FACTS = {"kind": "laws", "label": "", "max_delay": 4, "names": ["a"], "sizes": [1]}
ARRAYS = b"\x01\0\0\0" + b"\0\0\0\0\0\0\xf0\x3f"


@pytest.mark.parametrize(
    ("facts", "arrays"),
    [
        ({**FACTS, "sizes": [2]}, ARRAYS),
        ({**FACTS, "sizes": []}, b""),
        ({**FACTS, "sizes": [-1]}, ARRAYS),
        ({**FACTS, "sizes": "x"}, ARRAYS),
        ({**FACTS, "kind": "unknown"}, ARRAYS),
        ({**FACTS, "names": ["a", "b"]}, ARRAYS),
        ({**FACTS, "names": [1]}, ARRAYS),
        ({**FACTS, "max_delay": 0}, ARRAYS),
        ({**FACTS, "label": 5}, ARRAYS),
        ({"kind": "laws"}, ARRAYS),
        ([], ARRAYS),
        (FACTS, ARRAYS[:4] + b"\0" * 8),
        (FACTS, ARRAYS + b"\0" * 10_000),
        (FACTS, b"\x05" + ARRAYS[1:]),
        ({**FACTS, "kind": "table", "sizes": [1, 1, 1]}, b"\x01\0\0\0"),
        ({**FACTS, "kind": "table", "sizes": [1, 1]}, b"\x05\0\0\0"),
        ({**FACTS, "kind": "table", "sizes": [-1, -1]}, b"\x01\0\0\0"),
    ],
)
def test_forged_files_are_refused(facts: Any, arrays: bytes, tmp_path: Path) -> None:
    """A right checksum over content that is no problem does not help."""
    path = tmp_path / "p"
    path.write_bytes(forged(facts, arrays))
    with pytest.raises(ProblemFileError, match="not a problem"):
        load(path)


def test_forging_itself_works(tmp_path: Path) -> None:
    """The forged files above are refused for their content, not for their form."""
    path = tmp_path / "p"
    path.write_bytes(forged(FACTS, ARRAYS))
    assert load(path) == deterministic({"a": 1}, 4)


def test_missing_places_are_refused(tmp_path: Path) -> None:
    """Reading what is not there, or writing where nothing can be, is an error of tarry's tree."""
    with pytest.raises(ProblemFileError, match="cannot be read: No such file"):
        load(tmp_path / "nothing")
    with pytest.raises(ProblemFileError, match="cannot be written to"):
        bernoulli(2, 5).save(tmp_path / "no folder" / "p")
    with pytest.raises(ProblemFileError, match="cannot be read"):
        load(tmp_path)


def test_interrupted_writing_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If writing fails half-way the old file stays and no draft is left behind."""
    path = tmp_path / "p"
    problem = bernoulli(2, 5)
    problem.save(path)

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(ProblemFileError, match="No space left on device"):
        bernoulli(3, 5).save(path)
    assert load(path) == problem
    assert list(tmp_path.iterdir()) == [path]
