"""The report: one HTML file that tells what was found, claim by claim; it needs no network.

First the findings and the picture that shows them, then each claim once, with its figure and its
verdicts, then the theory beside the runs, and last all settings.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tarry.experiments.result import Result
from tarry.experiments.result import drawing as drawing_module
from tarry.experiments.result_files import write_file
from tarry.reproduction import page, story
from tarry.reproduction.claims import Claim
from tarry.reproduction.found import DATA, EVENTS, PAYOFFS, Found, finished, read_found
from tarry.reproduction.paper import FIGURE_RUNS, paper_experiment, size_of
from tarry.reproduction.scaling import scaling_experiments
from tarry.reproduction.theory_sections import theory_sections, variation_parts
from tarry.tables import number

__all__ = ["DATA", "EVENTS", "FIGURES", "PAYOFFS", "REPORT", "figure_count", "finished"]

FIGURES, REPORT = "figures", "index.html"
FLOORS = (
    "Two floors stand beside the curves. The asymptotic information floor (Lai and Robbins, at "
    "most T times the largest gap) is what remains in the limit of large T; at a finite T a policy "
    "may be below it. What no policy stays below on average, at any T, is the greater of the delay "
    "floor and the early one of Garivier, Menard and Stoltz; it is drawn where it is above 1."
)
CHAPTERS = {
    "reward": "Reward: BHSE outperforms OPSE and CensoredUCB",
    "cost": "Cost: BDSE outperforms OPSE",
    "bernoulli": "Reward: Bernoulli delays are harder, and vary more",
    "doubling": "Cost: BDSE varies with its doublings, and history smooths it",
    "ours": "What we recommend, next to the paper's policies",
}
JUDGING = (
    "A verdict is “holds” or “does not hold here” where its own test decides at the 95 % level, "
    "otherwise “undecided”. All policies of a run meet the same instance and the same delays, so "
    "differences are paired, by Student's t. Spreads are compared by the distances of the runs "
    "from the median run, which asks nothing of the shape of the data (Brown and Forsythe). "
    "A law of growth is judged by the interval of its slope, and only where the points lie on a "
    "line. The paper does not tell the scale of the means of the truncated normal; the number "
    "behind “truncated normal” is that scale in units of D."
)
Tell = Callable[[], None]


def write_report(out: str | os.PathLike[str], told: Tell = lambda: None) -> Path:
    """Draw the figures of all finished results in `out`, and write the report beside them.

    `told` is called after each figure.
    """
    drawing_module()  # without matplotlib there is no report, and it is better to say so first
    place = Path(out)
    found = read_found(place)
    draw = Draw(place, told)
    opening = []
    if found.whole:
        opening.append(page.paragraph(story.findings(found.claims, found.whole), "lead"))
        opening.append(f'<div class="best">{draw.headline(found.whole)}</div>')
    opening.append(page.paragraph(summary(found)))
    sections = [judging_section(found.claims)] if found.claims else []
    sections += claim_sections(found, draw)
    if found.grown:
        sections.append(scaling_section(found, draw))
    varied = variation_parts(found.results)
    if varied:
        title = "Variation within and between instances"
        sections.append(page.Section("variation", title, varied))
    sections += theory_sections(found.judged, found.events)
    if found.results:
        sections.append(settings_section(found.results))
    text = page.document("Delay as Payoff in MAB, reproduced", opening, sections)
    write_file(place / REPORT, text.encode())
    return place / REPORT


class Draw:
    """Makes figures: writes them as SVG and PNG, and gives them as pieces of the page."""

    def __init__(self, place: Path, told: Tell) -> None:
        """Figures go into the folder `place`; `told` is called after each."""
        self.place = place
        self.told = told

    def __call__(self, picture: Any) -> str:
        """Write a figure, and return it as a piece of the page."""
        figures = drawing_module()
        drawing = figures.rendered(picture.figure, "svg", transparent=True).decode()
        folder = self.place / FIGURES
        write_file(folder / f"{picture.name}.svg", page.on_white(drawing).encode())
        picture.figure.set_layout_engine("none")  # everything has its place by now, it took long
        figures.save_figure(picture.figure, folder / f"{picture.name}.png")
        self.told()
        return page.figure(picture.name, drawing, picture.caption)

    def headline(self, whole: Mapping[Any, Result]) -> str:
        """The best picture."""
        from tarry.reproduction.gallery import headline

        return self(headline(whole))


def figure_count(descriptions: Mapping[str, Mapping[str, Any]]) -> int:
    """How many figures a report draws of the results with these descriptions, by name.

    Of a payoff: the paper's figure for each problem but Bernoulli, the spread of the runs, all
    policies on each problem. Of a scaling experiment: one. And the headline.
    """
    payoffs = [name for name in descriptions if name in PAYOFFS]
    scalings = [name for name in descriptions if name.startswith("scaling-")]
    each = sum(2 * len(descriptions[name]["problems"]) for name in payoffs)
    return each + len(scalings) + bool(payoffs)


def summary(found: Found) -> str:
    """What was run, in a sentence or two."""
    told = []
    for payoff, result in found.judged.items():
        horizon = number(float(result.steps(result.problems[0])[-1]))
        whole = found.whole[payoff]
        told.append(
            f"Delay as {payoff}: T = {horizon}, {result.runs} runs of the {len(result.policies)} "
            f"policies that the paper's claims are about, {whole.runs} of all "
            f"{len(whole.policies)}, on {len(result.problems)} families of problems."
        )
    if found.grown:
        told.append(f"{len(found.grown)} scaling experiments on the paper's hard instances.")
    if found.events:
        told.append("The good event of the paper's proofs, checked at every step of some runs.")
    return " ".join(told)


def judging_section(claims: Sequence[Claim]) -> page.Section:
    """How verdicts are made, how many there are, and what that means."""
    parts = [page.paragraph(JUDGING), page.paragraph(story.counts(claims))]
    return page.Section("claims", "How claims are judged", parts)


def claim_sections(found: Found, draw: Draw) -> list[page.Section]:
    """The claims on the families of problems, a section for each."""
    marks = story.marks(found.claims)
    sections = []
    for anchor, title in CHAPTERS.items():
        claims = [claim for claim in found.claims if claim.chapter == anchor]
        pictures = [draw(picture) for picture in pictures_of(anchor, found)]
        if claims or pictures:
            parts = [page.paragraph(FLOORS)] if anchor == "ours" and pictures else []
            parts += [page.gallery(pictures)] if pictures else []
            sections.append(page.Section(anchor, title, [*parts, *claim_tables(claims, marks)]))
    return sections


def pictures_of(anchor: str, found: Found) -> Iterable[Any]:
    """The figures of a chapter."""
    from tarry.reproduction.gallery import all_pictures, paper_pictures, spread_picture

    if anchor in PAYOFFS and anchor in found.judged:
        yield from paper_pictures(found.judged[anchor])
    if anchor == "bernoulli" and "reward" in found.judged:
        yield spread_picture(found.judged["reward"])
    if anchor == "doubling" and "cost" in found.judged:
        yield spread_picture(found.judged["cost"])
    if anchor == "ours":
        for payoff, whole in found.whole.items():
            size = size_of(found.judged[payoff])._replace(runs=min(whole.runs, FIGURE_RUNS))
            yield from all_pictures(paper_experiment(payoff, size), whole)


def claim_tables(claims: Sequence[Claim], marks: Mapping[Claim, str]) -> list[str]:
    """Each claim once, with a row for each problem."""
    parts = []
    for text in dict.fromkeys(claim.claim for claim in claims):
        rows = [
            [c.payoff, c.where, c.measured, str(c.runs), page.badge(c.verdict, marks[c])]
            for c in claims
            if c.claim == text
        ]
        parts.append(page.subheading(text))
        parts.append(page.table(["payoff", "on", "measured", "runs", "verdict"], rows))
    return parts


def scaling_section(found: Found, draw: Draw) -> page.Section:
    """Figures, claims and slopes of the scaling laws."""
    from tarry.reproduction.gallery import scaling_picture

    known, marks = scaling_experiments(), story.marks(found.claims)
    parts = []
    for name, grown in found.grown.items():
        claims = [claim for claim in found.claims if claim.chapter == f"scaling-{name}"]
        parts.append(page.gallery([draw(scaling_picture(name, known[name], grown))]))
        parts += claim_tables(claims, marks)
    rows = [
        [
            known[name].payoff,
            known[name].title,
            policy,
            f"{growth.fit.slope:.2f}",
            f"{growth.fit.low:.2f} to {growth.fit.high:.2f}",
            "yes" if growth.fit.is_straight else "no",
            "-" if growth.law is None else f"{growth.law:g}",
            f"{number(growth.mean[0])} to {number(growth.mean[-1])}",
        ]
        for name, grown in found.grown.items()
        for policy, growth in grown.items()
    ]
    heads = ["payoff", "experiment", "policy", "slope", "95 % interval", "a line", "law", "regret"]
    parts.append(page.details("All slopes", page.table(heads, rows)))
    return page.Section("scaling", "Table 1 as pictures: how regret grows", parts)


def settings_section(results: Mapping[str, Result]) -> page.Section:
    """Regret in full, seeds, versions and the whole description of every experiment."""
    versions = next(iter(results.values())).description["versions"]
    parts = [page.table(["what", "version"], [[name, each] for name, each in versions.items()])]
    for payoff in (name for name in results if name.removesuffix("-field") in PAYOFFS):
        heads, rows = results[payoff].final().cells()
        table = page.table(["payoff", *heads], [[results[payoff].payoff, *row] for row in rows])
        parts.append(page.details(f"Regret at the horizon, {payoff}", table))
    for name, result in results.items():
        description = {key: value for key, value in result.description.items() if key != "versions"}
        short = {**description, "problems": [without_steps(p) for p in description["problems"]]}
        parts.append(page.details(name, page.preformatted(json.dumps(short, indent=1))))
    return page.Section("settings", "Settings", parts)


def without_steps(problem: Mapping[str, Any]) -> dict[str, Any]:
    """A problem's description without the list of recorded steps."""
    return {**problem, "steps": f"{len(problem['steps'])} recorded"}
