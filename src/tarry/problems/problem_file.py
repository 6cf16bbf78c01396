"""Problem files: one line that says what it is, one line of JSON, then compressed arrays.

    tarry problem 1 <sha256 of all that follows, in hex>
    {"kind": "laws", "label": ..., "max_delay": ..., "names": [...], "sizes": [...]}
    <zlib: the delays of all arms as int32, then their probabilities as float64, little-endian>

One that changes has kind "changing", the laws of all its blocks, and its plan in the JSON line.
A replayed table has kind "table", sizes [steps, arms] and its delays as int32, row by row. One with
contexts has kind "contexts", the laws of all contexts, and then weights and features, float64. The
probabilities are stored bit by bit, so a problem that is read back equals the one written.
A file appears by an atomic rename: it is complete or it does not exist.
"""

import hashlib
import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from tarry.errors import InputError, ProblemFileError
from tarry.files import write_atomically
from tarry.problems.changing import Changing, planned
from tarry.problems.changing_world import FIRST, FROM, TO
from tarry.problems.contextual import Contextual, contextual
from tarry.problems.law import Law
from tarry.problems.problem import Problem
from tarry.problems.recorded import Replay, replay

MAGIC = b"tarry problem "
VERSION = 1


def save(problem: Problem, path: str | os.PathLike[str]) -> None:
    """Write a problem to `path`, replacing a file that is there only when all is written."""
    body = encode(problem)
    head = b"%s%d %s\n" % (MAGIC, VERSION, hashlib.sha256(body).hexdigest().encode())
    try:
        write_atomically(Path(path), head + body)
    except OSError as error:
        raise ProblemFileError(
            f"The problem cannot be written to {str(path)!r}: {error.strerror or error}."
        ) from error


def load(path: str | os.PathLike[str]) -> Problem:
    """Read a problem that `Problem.save` wrote."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ProblemFileError(
            f"The problem file {str(path)!r} cannot be read: {error.strerror or error}."
        ) from error
    try:
        return decode(checked_body(content))
    except (InputError, ValueError, KeyError, TypeError, zlib.error) as error:
        raise ProblemFileError(f"{str(path)!r} cannot be used: {reason(error)}.") from error


def reason(error: Exception) -> str:
    """Why a file cannot be used, as the end of a sentence."""
    if isinstance(error, NotOursError):
        return str(error)
    return f"its content is not a problem ({type(error).__name__}: {str(error).rstrip('.')})"


class NotOursError(ValueError):
    """The bytes are not those of a complete problem file."""


def checked_body(content: bytes) -> bytes:
    """What follows the first line, if the first line vouches for it."""
    head, newline, body = content.partition(b"\n")
    words = head.split(b" ")
    if not MAGIC.startswith(content[: len(MAGIC)]) and not content.startswith(MAGIC):
        raise NotOursError("it is not a problem file of tarry")
    if not newline or len(words) != 4:
        raise NotOursError("it is cut short")
    if words[2] != b"%d" % VERSION:
        version = words[2].decode(errors="replace")
        raise NotOursError(f"it has version {version}, but this tarry reads version {VERSION}")
    if hashlib.sha256(body).hexdigest().encode() != words[3]:
        raise NotOursError("it is cut short or damaged: its checksum does not match")
    return body


def encode(problem: Problem) -> bytes:
    """The lines after the first."""
    facts: dict[str, Any] = {"label": problem.label, "max_delay": problem.max_delay}
    if isinstance(problem, Replay):
        facts |= {"kind": "table", "sizes": problem.rows.shape}
        arrays = [problem.rows.astype("<i4")]
    else:
        laws = problem.laws
        if isinstance(problem, Contextual):
            laws = problem.context_laws
        if isinstance(problem, Changing):
            laws = problem.block_laws
        facts |= {"kind": "laws", "sizes": [len(law.values) for law in laws]}
        arrays = [law.values.astype("<i4") for law in laws]
        arrays += [law.probabilities.astype("<f8") for law in laws]
    if isinstance(problem, Contextual):
        facts |= {"kind": "contexts", "shape": problem.rows.shape, "family": problem.family}
        facts |= {"columns": list(problem.columns), "contexts": list(problem.contexts_named)}
        arrays += [problem.weights.astype("<f8"), problem.rows.astype("<f8")]
    if isinstance(problem, Changing):
        facts |= {"kind": "changing", "plan": problem.plan.tolist()}
        facts["caught"] = problem.caught.tolist()
    facts["names"] = list(problem.names)
    line = json.dumps(facts, sort_keys=True).encode()
    return line + b"\n" + zlib.compress(b"".join(array.tobytes() for array in arrays), 6)


def decode(body: bytes) -> Problem:
    """The problem whose lines after the first are `body`."""
    line, _, packed = body.partition(b"\n")
    facts = json.loads(line)
    sizes, names, label = facts["sizes"], facts["names"], facts["label"]
    if facts["kind"] == "table":
        steps, arms = sizes
        raw = unpack(packed, 4 * steps * arms)
        table = np.frombuffer(raw, "<i4").reshape(steps, arms)
        return replay(table, facts["max_delay"], names)
    if facts["kind"] not in ("laws", "contexts", "changing"):
        raise ValueError(f"its kind is {facts['kind']!r}")
    count, width = facts.get("shape", (0, 0))
    total = 12 * sum(sizes)
    raw = unpack(packed, total + 8 * count * (1 + width))
    cuts = np.cumsum(sizes)[:-1]
    values = np.split(np.frombuffer(raw[: 4 * sum(sizes)], "<i4"), cuts)
    shares = np.split(np.frombuffer(raw[4 * sum(sizes) : total], "<f8"), cuts)
    laws = [Law(value, share) for value, share in zip(values, shares, strict=True)]
    if facts["kind"] == "laws":
        return Problem(laws, facts["max_delay"], names, label)
    if facts["kind"] == "changing":
        return replanned(laws, facts)
    rest = np.frombuffer(raw[total:], "<f8")
    rows, told = rest[count:].reshape(count, width), (names, facts["columns"], facts["contexts"])
    made = rest[:count], *told, label, facts["family"]
    return contextual(laws, rows, facts["max_delay"], *made)


def replanned(laws: list[Law], facts: dict[str, Any]) -> Problem:
    """A problem that changes, if its plan makes sense."""
    arms = len(facts["names"])
    plan, caught = (
        np.array(facts[name], np.int64).reshape(-1, columns)
        for name, columns in (("plan", 5), ("caught", 2))
    )
    fits = len(plan) and plan[0, FIRST] == 1 and bool((np.diff(plan[:, FIRST]) > 0).all())
    blocks = plan[:, [FROM, TO]]
    if not fits or len(laws) % arms or blocks.min() < 0 or blocks.max() >= len(laws) // arms:
        raise ValueError("its plan and its laws do not fit each other")
    return planned(laws, plan, caught, facts["max_delay"], facts["names"], facts["label"])


def unpack(packed: bytes, size: int) -> bytes:
    """Exactly `size` bytes from a complete zlib stream."""
    stream = zlib.decompressobj()
    raw = stream.decompress(packed, size + 1)
    if len(raw) != size or not stream.eof:
        raise ValueError(f"its arrays are not the {size} bytes that its header says")
    return raw
