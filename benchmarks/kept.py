"""Runs that are kept in files and not made again, unless the code that decides has changed."""

import ast
import hashlib
import importlib
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tarry.arrays import FloatArray
from tarry.files import write_atomically

# where policies are defined
OF_OURS = ("tarry.policies.", "benchmarks.increment.", "benchmarks.tails.first")


def code_of(policy: Any) -> str:
    """A fingerprint of the code that decides, without its comments and docstrings.

    That the simulator and the ledger do what they did is what the tests are for.
    """
    digest = hashlib.sha256(repr(policy).encode())
    for name in sorted({*modules_behind(type(policy).__module__), "tarry.randomness"}):
        digest.update(code_in(name))
    return digest.hexdigest()[:16]


def code_in(module: str) -> bytes:
    """What a module does, without its comments and docstrings."""
    return code_at(Path(str(importlib.import_module(module).__file__)))


def code_at(path: Path) -> bytes:
    """The same for a file, which is not imported."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = None
    return ast.dump(tree).encode()


def modules_behind(name: str) -> set[str]:
    """A module of policies and the others of its kind that it has functions or classes from."""
    found, waiting = set(), [name]
    while waiting:
        module = waiting.pop()
        if (
            module not in found
            and module.startswith(OF_OURS)
            and ("benchmarks" in module or module.count(".") > 2)
        ):
            found.add(module)
            named = vars(sys.modules[module]).values()
            waiting += [str(getattr(value, "__module__", "")) for value in named]
    return found


def kept(path: Path, code: str) -> dict[str, FloatArray]:
    """What a file holds, nothing if it is not there or of other code."""
    if not path.exists():
        return {}
    with np.load(path) as file:
        if str(file["code"]) != code:
            return {}
        return {name: file[name] for name in file.files if name != "code"}


def keep(path: Path, code: str, **runs: FloatArray) -> None:
    """Write all runs made so far."""
    content = io.BytesIO()
    np.savez_compressed(content, code=code, **runs)  # type: ignore[arg-type]
    write_atomically(path, content.getvalue())
