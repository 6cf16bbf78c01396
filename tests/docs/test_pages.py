"""The documentation as a whole: reference, links, figures, and how wide its examples are."""

import doctest
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tarry
from tarry import live, policies, problems, scenarios, theory

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
NAMES = [str(page.relative_to(DOCS)) for page in PAGES]
REFERENCE = "\n".join(page.read_text() for page in sorted((DOCS / "reference").glob("*.md")))
LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)#\s]+)")
DRAWING = re.compile(r"^:::\{drawing\} (\S+)", re.MULTILINE)
WIDEST = 104  # characters of an example that a wide page holds; on others it scrolls


@pytest.mark.parametrize("name", tarry.__all__)
def test_every_public_name_is_in_the_reference(name: str) -> None:
    """Each name of `tarry` itself is listed in the reference, and explained on a page of it."""
    for text in ((DOCS / "api.md").read_text(), REFERENCE):
        assert re.search(rf"tarry\.{name}\b", text) or name == "__version__"


@pytest.mark.parametrize(
    "module", [live, policies, problems, scenarios, theory], ids=lambda m: m.__name__
)
def test_every_name_of_a_module_is_in_the_reference(module: object) -> None:
    """Each name in __all__ of the large modules is documented, one by one or by its module."""
    page = REFERENCE
    name = str(module.__name__)  # type: ignore[attr-defined]  # modules have one
    if re.search(rf"automodule:: {name}\n(?!   :no-members:)", page):
        return
    public: list[str] = module.__all__  # type: ignore[attr-defined]  # as these do
    assert [each for each in public if not re.search(rf"\b{each}\b", page)] == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_to_files(page: Path) -> None:
    """Every relative link and every drawing of a page names a file that exists."""
    text = page.read_text()
    targets = LINK.findall(text) + DRAWING.findall(text)
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_page_is_in_the_contents(page: Path) -> None:
    """Each page can be reached from the index."""
    name = page.relative_to(DOCS).with_suffix("").as_posix()
    contents = "".join((DOCS / f"{each}.md").read_text() for each in ("index", "api"))
    assert name == "index" or f"\n{name}\n" in contents


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_examples_are_not_too_wide(page: Path) -> None:
    """No line of an example runs out of the page."""
    lines = page.read_text().splitlines()
    assert [line for line in lines if line.startswith((">>>", "...")) and len(line) > WIDEST] == []


@pytest.mark.parametrize("figure", sorted(DOCS.rglob("*.svg")), ids=lambda figure: figure.name)
def test_figures_are_small_and_made_by_something(figure: Path) -> None:
    """Each figure is below 200 kB, and what matplotlib drew is named by a script or benchmark."""
    assert figure.stat().st_size < 200_000
    makers = [*DOCS.rglob("make_*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    drawn_by_hand = "<dc:title>Matplotlib" not in figure.read_text()
    assert drawn_by_hand or any(figure.name in maker.read_text() for maker in makers)


def test_examples_write_elsewhere() -> None:
    """Examples of docstrings run in a folder of their own too, and none has left a table here."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--setup-show"]
    module = ROOT / "src" / "tarry" / "survival_curve.py"
    shown = subprocess.run(
        [*command, str(module)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "SETUP    F tmp_path" in shown.stdout
    assert [path.name for path in ROOT.glob("*.csv")] == []


def test_the_policy_of_the_tutorial_lives() -> None:
    """The rule that researchers are shown decides live too, from the first moment on."""
    page: dict[str, Any] = {"__name__": "researcher"}
    text = (DOCS / "tutorials" / "researcher.md").read_text()
    for example in doctest.DocTestParser().get_examples(text):
        if example.source.startswith(("import", "from", "class", "@dataclass")):
            exec(example.source, page)  # noqa: S102  # the page's own
    settings: dict[str, Any] = {"payoff": "cost", "max_delay": 2.0, "clock": live.ManualClock()}
    agent = tarry.Agent(page["AgeUCB"](), arms=["a", "b"], **settings)
    assert {agent.ask().arm for _ in range(5)} == {"a", "b"}
