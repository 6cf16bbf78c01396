"""What is used of Numba beyond its documented interface."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tarry
from tarry.compiled.inside import INSIDE

PACKAGE = Path(tarry.__file__).parent
# What Numba's documentation offers to all. `config.CACHE_DIR` is in the list.
PUBLIC = {"numba", "numba.config", "numba.extending", "numba.types"}


def found(path: str) -> Any:
    """The thing with this dotted name."""
    module = path
    names: list[str] = []
    while True:
        try:
            thing: Any = importlib.import_module(module)
            break
        except ModuleNotFoundError:
            module, _, name = module.rpartition(".")
            names.insert(0, name)
    for name in names:
        thing = getattr(thing, name)
    return thing


def imported(source: Path) -> Iterator[str]:
    """The dotted names that a file imports of Numba and of what is under it."""
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", INSIDE)
def test_what_is_used_is_there(path: str) -> None:
    """Each name of the list exists in the Numba that is installed."""
    assert found(path) is not None or path.endswith("CACHE_DIR")


def test_nothing_else_is_used() -> None:
    """No file imports anything of Numba that is neither documented nor in the list."""
    used = {
        (source.relative_to(PACKAGE).as_posix(), name)
        for source in PACKAGE.rglob("*.py")
        for name in imported(source)
        if name.partition(".")[0] in ("numba", "llvmlite")
    }
    assert used
    listed = set(INSIDE)
    for source, name in used:
        public = name in PUBLIC or name.rpartition(".")[0] in PUBLIC - {"numba"}
        assert public or any(f"{path}.".startswith(f"{name}.") for path in listed), (source, name)
        assert source.startswith("compiled/")
    assert {s for s, name in used if name.startswith("numba.core")} == {"compiled/inside.py"}


def test_no_other_private_name_is_used() -> None:
    """Every private attribute or option that the bridge takes from Numba is told of in the list."""
    told = " ".join([*INSIDE, *INSIDE.values()])
    source = ast.parse((PACKAGE / "compiled" / "inside.py").read_text())
    private = {
        name
        for node in ast.walk(source)
        for name in [getattr(node, "attr", None) or getattr(node, "name", None)]
        if isinstance(name, str) and name.startswith("_")
    }
    assert private
    for name in private:
        assert name in told
