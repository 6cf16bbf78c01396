"""The report's tables about theory and about variation."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tarry.experiments.result import Result
from tarry.problems.problem import Payoff
from tarry.reproduction import page
from tarry.reproduction.paper import FIGURE_RUNS, paper_experiment, size_of
from tarry.reproduction.theory_checks import BoundRow, EventRow, bound_rows
from tarry.reproduction.variation import variation_rows
from tarry.tables import number


def theory_sections(
    judged: Mapping[Payoff, Result], events: Sequence[EventRow]
) -> list[page.Section]:
    """Upper bounds next to what was measured, and the good event."""
    parts: list[str] = []
    rows: list[tuple[str, BoundRow]] = []
    for payoff, result in judged.items():
        few = result.first(min(result.runs, FIGURE_RUNS))
        rows += [(payoff, row) for row in bound_rows(paper_experiment(payoff, size_of(few)), few)]
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


def bounds_table(rows: Iterable[tuple[str, BoundRow]]) -> tuple[list[str], list[list[Any]]]:
    """Measured regret and bounds."""
    heads = ["payoff", "problem", "policy", "measured", "printed", "safe", "T · gap"]
    return [*heads, "print exceeded"], [
        [
            payoff,
            row.problem,
            row.policy,
            *(number(value) for value in (row.measured, row.printed, row.safe, row.trivial)),
            f"{row.exceeded} instances",
        ]
        for payoff, row in rows
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


def variation_parts(results: Mapping[str, Result]) -> list[str]:
    """Variation within instances and between them, apart."""
    rows = [
        row
        for name, result in results.items()
        if name.startswith("variation-")
        for row in variation_rows(result)
    ]
    if not rows:
        return []
    first = rows[0]
    text = (
        f"Each run of the experiments above draws its own instance. Here {first.instances} of the "
        f"Bernoulli instances are played {first.repeats} times each, so that what the instance "
        f"does and what chance does on the same instance can be told apart. An interval of a "
        f"mean over instances needs more instances where the share between them is large, and more "
        f"runs on each would not help."
    )
    cells = [
        [
            row.payoff,
            row.policy,
            number(row.mean),
            number(row.within),
            number(row.between),
            f"{100 * row.share:.0f} %",
            f"{100 * row.low:.0f} to {100 * row.high:.0f} %",
        ]
        for row in rows
    ]
    heads = ["payoff", "policy", "mean", "std within", "std between", "share between"]
    return [page.paragraph(text), page.table([*heads, "95 % interval"], cells)]
