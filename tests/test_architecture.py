"""The picture of the architecture against the import contract."""

import re
import tomllib
from pathlib import Path

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
