"""The report: one HTML file with every figure, table, setting and verdict; it needs no network."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tarry.errors import ResultsError
from tarry.experiments.result import Result
from tarry.experiments.result import drawing as drawing_module
from tarry.experiments.result_folder import load, write_file
from tarry.problems.problem import Payoff
from tarry.reproduction import page
from tarry.reproduction.claims import Claim, paper_claims, scaling_claims
from tarry.reproduction.paper import paper_experiment, size_of
from tarry.reproduction.scaling import Growth, growths, scaling_experiments
from tarry.reproduction.theory_checks import BoundRow, EventRow, bound_rows
from tarry.tables import number

DATA, FIGURES, REPORT, EVENTS = "data", "figures", "index.html", "good-event.json"
PAYOFFS: tuple[Payoff, ...] = ("reward", "cost")


def write_report(out: str | os.PathLike[str], told: Callable[[], None] = lambda: None) -> Path:
    """Draw the figures of all finished results in `out`, and write the report beside them.

    `told` is called after each figure.
    """
    drawing_module()  # without matplotlib there is no report, and it is better to say so first
    place = Path(out)
    results = {name: load(place / DATA / name) for name in finished(place / DATA)}
    events = read_event_rows(place / DATA / EVENTS)
    if not results:
        raise ResultsError(
            f"There are no finished results in {str(place / DATA)!r}; run 'tarry reproduce' first."
        )
    grown = {
        name: growths(scaling, results[f"scaling-{name}"])
        for name, scaling in scaling_experiments().items()
        if f"scaling-{name}" in results
    }
    sections = [claims_section(results, grown)]
    sections += [
        payoff_section(place, payoff, results[payoff], told)
        for payoff in PAYOFFS
        if payoff in results
    ]
    if grown:
        sections.append(scaling_section(place, grown, told))
    sections += theory_sections(results, events)
    sections.append(settings_section(results))
    text = page.document(
        "Delay as Payoff in MAB, reproduced", summary(results, len(grown)), sections
    )
    write_file(place / REPORT, text.encode())
    return place / REPORT


def finished(folder: Path) -> list[str]:
    """The names of the complete results in a folder, which are those of their own folders."""
    names = [*PAYOFFS, *(f"scaling-{name}" for name in scaling_experiments())]
    return [name for name in names if (folder / name / "results.parquet").exists()]


def figure_count(descriptions: Mapping[str, Mapping[str, Any]]) -> int:
    """How many figures a report draws of the results with these descriptions, by name.

    Of a payoff: the paper's figure for each problem but Bernoulli, all policies on each problem,
    and an overview. Of a scaling experiment: one.
    """
    return sum(
        2 * len(description["problems"]) if name in PAYOFFS else 1
        for name, description in descriptions.items()
    )


def summary(results: Mapping[str, Result], scalings: int) -> str:
    """What was run, in a sentence or two."""
    told = []
    for payoff in PAYOFFS:
        if payoff in results:
            result = results[payoff]
            horizon = number(float(result.steps(result.problems[0])[-1]))
            told.append(
                f"Delay as {payoff}: T = {horizon}, {result.runs} runs of each of "
                f"{len(result.policies)} policies on {len(result.problems)} families of problems."
            )
    if scalings:
        told.append(f"{scalings} scaling experiments on the paper's hard instances.")
    return " ".join(told)


def claims_section(
    results: Mapping[str, Result], grown: Mapping[str, Mapping[str, Growth]]
) -> page.Section:
    """Every claim with its verdict, first as one picture, then line by line."""
    on_families = paper_claims(results)
    claims = [*on_families, *scaling_claims(grown)]
    rows = [[c.claim, c.where, c.measured, page.badge(c.verdict)] for c in claims]
    parts = [
        page.paragraph(
            "“Holds” and “does not hold here” are said where the data decide at the 95 % level. "
            "Policies of a run met the same instances and the same delays, so their differences "
            "are paired. The paper does not tell the scale of the means of the truncated normal; "
            "the number behind “truncated normal” is that scale in units of D."
        ),
    ]
    if on_families:
        parts.append(page.table(*verdict_matrix(on_families), kind="matrix"))
        parts.append(page.paragraph("Each of them, and the laws of growth, with the numbers:"))
    parts.append(page.table(["claim", "on", "measured", "verdict"], rows))
    return page.Section("claims", "What the paper claims, and what was measured", parts)


def verdict_matrix(claims: Iterable[Claim]) -> tuple[list[str], list[list[Any]]]:
    """Claims against problems: which holds at which scale of the means."""
    columns: dict[str, None] = {}
    cells: dict[str, dict[str, str]] = {}
    for claim in claims:
        columns[claim.where] = None
        cells.setdefault(claim.claim, {})[claim.where] = claim.verdict
    rows: list[list[Any]] = [
        [text, *(page.badge(row[column]) if column in row else "" for column in columns)]
        for text, row in cells.items()
    ]
    return ["claim", *columns], rows


def payoff_section(
    place: Path, payoff: Payoff, result: Result, told: Callable[[], None]
) -> page.Section:
    """Figures and table of one of the paper's experiments."""
    from tarry.reproduction.gallery import paper_pictures

    experiment = paper_experiment(payoff, size_of(result))
    pictures = [draw(place, each, told) for each in paper_pictures(experiment, result)]
    heads, rows = result.final().cells()
    parts = [page.gallery(pictures), page.details("Regret at the horizon", page.table(heads, rows))]
    return page.Section(payoff, f"Delay as {payoff}", parts)


def scaling_section(
    place: Path, grown: Mapping[str, Mapping[str, Growth]], told: Callable[[], None]
) -> page.Section:
    """Figures and slopes of the scaling laws."""
    from tarry.reproduction.gallery import scaling_picture

    known = scaling_experiments()
    pictures = [
        draw(place, scaling_picture(name, known[name], found), told)
        for name, found in grown.items()
    ]
    rows = [
        [
            known[name].title,
            policy,
            str(growth.slope),
            "-" if growth.law is None else f"{growth.law:g}",
            f"{number(growth.mean[0])} to {number(growth.mean[-1])}",
        ]
        for name, found in grown.items()
        for policy, growth in found.items()
    ]
    heads = ["experiment", "policy", "slope ± error", "law", "regret"]
    parts = [page.gallery(pictures), page.details("Fitted slopes", page.table(heads, rows))]
    return page.Section("scaling", "Table 1 as pictures: how regret grows", parts)


def draw(place: Path, picture: Any, told: Callable[[], None]) -> str:
    """Write a figure as SVG and PNG, and return it as a piece of the page."""
    figures = drawing_module()
    drawing = figures.rendered(picture.figure, "svg", transparent=True).decode()
    write_file(place / FIGURES / f"{picture.name}.svg", page.on_white(drawing).encode())
    picture.figure.set_layout_engine("none")  # everything has its place by now, which took long
    figures.save_figure(picture.figure, place / FIGURES / f"{picture.name}.png")
    told()
    return page.figure(picture.name, drawing, picture.caption)


def theory_sections(
    results: Mapping[str, Result], events: Sequence[EventRow]
) -> list[page.Section]:
    """Upper bounds next to what was measured, and the good event."""
    parts: list[str] = []
    rows: list[BoundRow] = []
    for payoff in PAYOFFS:
        if payoff in results:
            experiment = paper_experiment(payoff, size_of(results[payoff]))
            rows += bound_rows(experiment, results[payoff])
    if rows:
        parts.append(
            page.paragraph(
                "The paper's upper bounds with their constants, averaged over the instances: as "
                "printed, and in a safe form where the print does not follow from its proof. Both "
                "are loose at this horizon, where even “T times the greatest gap”, which nobody "
                "can exceed, is smaller. Where the printed bound is below the measured regret, it "
                "is the print that is wrong."
            )
        )
        parts.append(page.table(*bounds_table(rows)))
    if events:
        parts.append(
            page.paragraph(
                "The good event on which the proofs stand, checked at every step of some runs: in "
                "how many runs each part failed anywhere, and how much of the bound was left when "
                "it came nearest to failing (100 % is far away, 0 % is failure)."
            )
        )
        parts.append(page.table(*events_table(events)))
    return [page.Section("theory", "The theory next to the runs", parts)] if parts else []


def bounds_table(rows: Iterable[BoundRow]) -> tuple[list[str], list[list[Any]]]:
    """Measured regret and bounds."""
    heads = ["problem", "policy", "measured", "printed", "safe", "T · gap", "print exceeded"]
    return heads, [
        [
            row.problem,
            row.policy,
            *(number(value) for value in (row.measured, row.printed, row.safe, row.trivial)),
            f"{row.exceeded} instances",
        ]
        for row in rows
    ]


def events_table(rows: Iterable[EventRow]) -> tuple[list[str], list[list[Any]]]:
    """The parts of the good event."""
    heads = ["payoff", "policy", "part", "runs", "checks", "runs failed", "allowed", "left"]
    return heads, [
        [
            row.payoff,
            row.policy,
            row.part,
            str(row.runs),
            number(row.checks),
            str(row.failed_runs),
            f"{row.allowed * row.runs:.1g}",
            f"{100 * row.nearest:.0f} %",
        ]
        for row in rows
    ]


def read_event_rows(path: Path) -> list[EventRow]:
    """What was kept of the good event."""
    if not path.exists():
        return []
    try:
        return [EventRow(**row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{str(path)!r} is damaged; remove it and run again.") from error


def settings_section(results: Mapping[str, Result]) -> page.Section:
    """Seeds, versions and the whole description of every experiment."""
    versions = next(iter(results.values())).description["versions"]
    parts = [page.table(["what", "version"], [[name, each] for name, each in versions.items()])]
    for name, result in results.items():
        description = {key: value for key, value in result.description.items() if key != "versions"}
        short = {**description, "problems": [without_steps(p) for p in description["problems"]]}
        parts.append(page.details(name, page.preformatted(json.dumps(short, indent=1))))
    return page.Section("settings", "Settings", parts)


def without_steps(problem: Mapping[str, Any]) -> dict[str, Any]:
    """A problem's description without the list of recorded steps."""
    return {**problem, "steps": f"{len(problem['steps'])} recorded"}
