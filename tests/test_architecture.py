"""The picture of the architecture and the walks through it, against contract and imports."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BOX = re.compile(r'<text x="(\d+)" y="(\d+)" class="name">(\w+)</text>')


def layers() -> list[set[str]]:
    """The modules of each layer of the contract, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contract = settings["tool"]["importlinter"]["contracts"][0]
    return [set(re.findall(r"\w+", layer)) for layer in contract["layers"]]


def test_picture_shows_the_layers_of_the_contract() -> None:
    """Every module of the contract has a box, and none stands higher than one of a layer above."""
    picture = (ROOT / "docs" / "figures" / "architecture.svg").read_text()
    height = {name: int(y) for _, y, name in BOX.findall(picture)}
    assert set(height) == set.union(*layers())
    for above, below in zip(layers(), layers()[1:], strict=False):
        assert max(height[name] for name in above) <= min(height[name] for name in below)


def test_picture_shows_every_module() -> None:
    """Every public module of the package has a box."""
    found = {path.stem for path in (ROOT / "src" / "tarry").iterdir()}
    modules = {name for name in found if not name.startswith("_") and name != "py"}
    picture = (ROOT / "docs" / "figures" / "architecture.svg").read_text()
    assert {name for *_, name in BOX.findall(picture)} == modules


def walks() -> list[list[str]]:
    """The numbered lists of files under "The way of a play", as modules."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.split("## The way of a play")[1].split("\n## ")[0]
    lists = re.findall(r"(?:^\d+\. `[\w/]+\.py`.*\n)+", section, flags=re.MULTILINE)
    steps = [re.findall(r"^\d+\. `(.*)\.py`", found, re.MULTILINE) for found in lists]
    return [["tarry." + name.replace("/", ".") for name in names] for names in steps]


def imports(module: str) -> set[str]:
    """The modules of tarry that a module imports, wherever in its file."""
    path = ROOT / "src" / (module.replace(".", "/") + ".py")
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("walk", walks(), ids=lambda walk: str(walk[0]))
def test_walks_have_no_step_back(walk: list[str]) -> None:
    """Each file of a walk is imported by one before it, and imports none before it."""
    assert len(walk) >= 6
    for place, module in enumerate(walk):
        before = set(walk[:place])
        assert not imports(module) & before, module
        assert not place or any(module in imports(name) for name in before), module


def test_both_walks_are_there() -> None:
    """A play goes through the simulator and through the agent."""
    assert [walk[0] for walk in walks()] == ["tarry.simulation.play", "tarry.live.agent"]
