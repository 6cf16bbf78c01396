"""The report: everything in one file that needs nothing else, rebuilt from what is on disk."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import tarry
from tarry.errors import ResultsError, UnknownNameError
from tarry.experiments.compare import run_experiment
from tarry.reproduction import reproduce as reproduction
from tarry.reproduction.found import read_found, verdict_records
from tarry.reproduction.page import cell, figure, table
from tarry.reproduction.paper import Size, paper_experiment, size_of
from tarry.reproduction.report import figure_count, write_report
from tarry.reproduction.scaling import ScalingExperiment, growths, scaling_experiments, slope_lines

pytestmark = pytest.mark.xdist_group("report")  # one process waits for what another makes

TINY = Size(horizon=1500, runs=3, scales=(0.2,))


def tiny_scaling(*, quick: bool = False) -> dict[str, ScalingExperiment]:
    """Two of the scaling experiments, much smaller."""
    known = scaling_experiments(quick=True)
    return {
        name: replace(known[name], values=[500, 700, 1000], horizon=1500)
        for name in ("cost-max-delay", "cost-best-delay")
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a complete, tiny reproduction, made once for all test processes."""
    out = tmp_path_factory.mktemp("results")
    if "PYTEST_XDIST_WORKER" in os.environ:
        out = tmp_path_factory.getbasetemp().parent / "reproduction"
    try:
        (out / "mine").mkdir(parents=True)
    except FileExistsError:  # another process makes it
        end = time.monotonic() + 240
        while not (out / "index.html").exists():
            assert time.monotonic() < end
            time.sleep(0.2)
        return out
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reproduction, "QUICK", TINY)
        patch.setattr(reproduction, "scaling_experiments", tiny_scaling)
        path = reproduction.reproduce(out, quick=True)
    assert path == out / "index.html"
    return out


class Told:
    """A bar that keeps what it is told."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.total = 0.0
        self.amounts: list[float] = []
        patch.setattr(reproduction, "bar", self.bar)

    @contextmanager
    def bar(self, _title: str, total: float) -> Iterator[Callable[..., None]]:
        """In place of the real one."""
        self.total = total
        yield lambda amount, what="": self.amounts.append(amount)


class Reader(HTMLParser):
    """Collects tags, identifiers and links, and checks that tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.links += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        """Tags close in order."""
        assert self.open.pop() == tag


def read(place: Path) -> Reader:
    """The report, parsed."""
    reader = Reader()
    reader.feed((place / "index.html").read_text())
    assert reader.open == []
    return reader


def test_report_is_self_contained(place: Path) -> None:
    """Every link stays inside the page, names are unique, and nothing is loaded."""
    reader = read(place)
    assert all(link.startswith("#") for link in reader.links)
    assert len(reader.ids) == len(set(reader.ids))
    assert {link[1:] for link in reader.links} <= set(reader.ids)
    assert not {"script", "link", "img", "iframe"} & set(reader.tags)
    assert "@import" not in (place / "index.html").read_text()


def test_report_fits_phones_and_dark_rooms(place: Path) -> None:
    """The page has a viewport, rules for narrow and dark screens, and drawings in its own ink."""
    text = (place / "index.html").read_text()
    assert 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text
    assert "max-width: 40rem" in text
    assert "#1b1b1b" not in text.replace("--ink: #1b1b1b", "")
    assert "currentColor" in text
    assert not re.search(r"<svg[^>]* width=", text)


def test_every_figure_is_in_the_report_and_on_disk(place: Path) -> None:
    """Each figure is there as SVG and PNG, and inside the page."""
    names = {path.stem for path in (place / "figures").glob("*.svg")}
    assert names == {path.stem for path in (place / "figures").glob("*.png")}
    assert {f"figure-{name}" for name in names} <= set(read(place).ids)
    assert len(names) == 2 * (1 + 1 + 2) + 2 + 1


def test_every_claim_has_a_verdict(place: Path) -> None:
    """Each claim of the paper is one line with what was measured, and all tables are there."""
    text = (place / "index.html").read_text()
    for claim in (
        "Reward: BHSE outperforms OPSE.",
        "Reward: BHSE outperforms CensoredUCB.",
        "Reward: regret is higher on Bernoulli than on truncated normal, BHSE.",
        "Cost: IncrementUCB has less regret than BDSE.",
        "Cost: SurvivalUCB has less regret than BDSE.",
        "Cost: BDSE outperforms OPSE.",
        "Cost: not throwing the history away at a doubling smooths this.",
        "Table 1, cost: the regret of BDSE does not grow with D.",
        "Lower bound, cost: every policy pays at least",
    ):
        assert claim in text
    verdicts = re.findall(r'class="badge (\w+)"', text)
    assert len(verdicts) > 25
    assert set(verdicts) <= {"holds", "fails", "open"}
    for anchor in (
        "claims",
        "reward",
        "cost",
        "ours",
        "scaling",
        "variation",
        "theory",
        "settings",
    ):
        assert f'<section id="{anchor}">' in text


def test_findings_come_first_and_every_claim_once(place: Path) -> None:
    """The page opens with what was found and the best picture, and tells no claim twice."""
    text = (place / "index.html").read_text()
    assert text.index('class="lead"') < text.index('id="figure-headline"') < text.index("<nav>")
    heads = re.findall(r"<h3>(.*?)</h3>", text)
    assert len(heads) == len(set(heads)) > 20
    assert "<th>payoff</th>" in text
    assert re.search(r"Of \d+ verdicts", text)


def test_letters_are_defined_once_and_lines_are_short(place: Path) -> None:
    """The page is light: no letter has two shapes in it, no coordinate more than three digits."""
    text = (place / "index.html").read_text()
    letters = re.findall(r'<path id="(DejaVu[^"]*)"', text)
    assert len(letters) == len(set(letters)) > 20
    assert set(re.findall(r'href="#(DejaVu[^"]*)"', text)) <= set(letters)
    assert not re.search(r' d="[^"]*\.\d{3}', text)
    on_disk = sum(path.stat().st_size for path in (place / "figures").glob("*.svg"))
    assert len(text) < 0.75 * on_disk


def test_verdicts_are_for_programs_too(place: Path) -> None:
    """Each verdict is a record with its runs and its p-value."""
    records = verdict_records(read_found(place).claims)
    assert {record["verdict"] for record in records} <= {"holds", "does not hold here", "undecided"}
    assert all(0 <= record["p"] <= 1 and record["runs"] >= 2 for record in records)


def test_report_is_written_anew_from_disk(place: Path, tmp_path: Path) -> None:
    """`tarry report` needs only the data, gives the same page, and draws as much as was counted."""
    shutil.copytree(place / "data", tmp_path / "data")
    drawn: list[None] = []
    write_report(tmp_path, told=lambda: drawn.append(None))
    assert len(drawn) == figure_count(reproduction.to_draw(place, {}))
    assert (tmp_path / "index.html").read_bytes() == (place / "index.html").read_bytes()


def test_reproduction_goes_on_where_it_stopped(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all data there nothing is played again, and the progress ends at the whole."""
    monkeypatch.setattr(reproduction, "QUICK", TINY)
    monkeypatch.setattr(reproduction, "scaling_experiments", tiny_scaling)
    told = Told(monkeypatch)
    descriptions = reproduction.to_draw(place, {})

    def draw_nothing(place: Path, told: Callable[[], None]) -> None:
        for _ in range(figure_count(descriptions)):
            told()

    monkeypatch.setattr(reproduction, "write_report", draw_nothing)
    times = [path.stat().st_mtime_ns for path in sorted((place / "data").rglob("*.parquet"))]
    reproduction.reproduce(place, quick=True, parts=["cost", "scaling"])
    after = [path.stat().st_mtime_ns for path in sorted((place / "data").rglob("*.parquet"))]
    assert times == after
    assert told.total > 0
    assert sum(told.amounts) == pytest.approx(told.total)


@pytest.mark.parametrize("part", ["theory", "scaling"])
def test_every_part_is_reported_alone(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part alone in a fresh folder does its work, ends its progress and is shown in a report."""
    monkeypatch.setattr(reproduction, "QUICK", TINY)
    monkeypatch.setattr(reproduction, "scaling_experiments", tiny_scaling)
    told = Told(monkeypatch)
    assert reproduction.reproduce(tmp_path, quick=True, parts=[part]) == tmp_path / "index.html"
    assert f'<section id="{part}">' in (tmp_path / "index.html").read_text()
    assert "<p></p>" not in re.sub(' class="[a-z]+"', "", (tmp_path / "index.html").read_text())
    assert sum(told.amounts) == pytest.approx(told.total)
    assert {link[1:] for link in read(tmp_path).links} <= set(read(tmp_path).ids)


def test_parts_and_folders_are_checked(tmp_path: Path) -> None:
    """An unknown part, an empty folder and a damaged file are answered in one sentence."""
    with pytest.raises(UnknownNameError, match="did you mean cost"):
        reproduction.reproduce(tmp_path, parts=["costs"])
    with pytest.raises(ResultsError, match="no finished results"):
        write_report(tmp_path)
    run_experiment(paper_experiment("cost", TINY), folder=tmp_path / "data" / "cost")
    (tmp_path / "data" / "good-event.json").write_text("{}")
    with pytest.raises(ResultsError, match=r"good-event\.json' is damaged"):
        write_report(tmp_path)


def test_size_is_read_back_from_a_result(place: Path) -> None:
    """The size of the paper's experiment follows from its result."""
    size = size_of(tarry.load(place / "data" / "cost"))
    assert (size.horizon, size.runs, list(size.scales)) == (1500, 3, [0.2])


def test_slopes_are_printed(place: Path) -> None:
    """The slopes of a scaling experiment make a table with the law beside them."""
    result = tarry.load(place / "data" / "scaling-cost-max-delay")
    lines = slope_lines(growths(tiny_scaling()["cost-max-delay"], result))
    assert lines[0].split() == ["policy", "slope", "law", "regret"]
    assert len(lines) == 1 + len(result.policies)


def test_text_is_escaped() -> None:
    """Text from outside cannot become markup, and numbers keep together."""
    assert cell("<b> & 12 345 -6") == "&lt;b&gt; &amp; 12\u202f345 \u22126"
    assert "<script>" not in table(["<script>"], [["<script>"]])
    drawn = figure("x", '<?xml?><svg width="1" height="2"><g id="a"/></svg>', "a <b>")
    assert 'id="x-a"' in drawn
    assert "a &lt;b&gt;" in drawn
