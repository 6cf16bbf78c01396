"""All that a folder of results holds, read once: for the report, its figures and its verdicts."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tarry.errors import ResultsError
from tarry.experiments.joined import joined
from tarry.experiments.result import Result
from tarry.experiments.result_folder import load
from tarry.problems.problem import Payoff
from tarry.reproduction.claims import Claim, our_claims, paper_claims, scaling_claims
from tarry.reproduction.scaling import Growth, growths, scaling_experiments
from tarry.reproduction.theory_checks import EventRow

DATA, EVENTS = "data", "good-event.json"
PAYOFFS: tuple[Payoff, ...] = ("reward", "cost")


class Found(NamedTuple):
    """What was measured, and what is claimed of it."""

    results: Mapping[str, Result]  # by name of the experiment
    judged: Mapping[Payoff, Result]  # the policies of the paper's claims, all runs
    whole: Mapping[Payoff, Result]  # all policies, the runs that all of them have
    grown: Mapping[str, Mapping[str, Growth]]
    events: Sequence[EventRow]
    claims: Sequence[Claim]


def read_found(place: Path) -> Found:
    """Everything in a folder; refused if there is nothing."""
    results = {name: load(place / DATA / name) for name in finished(place / DATA)}
    events = read_event_rows(place / DATA / EVENTS)
    if not results and not events:
        raise ResultsError(
            f"There are no finished results in {str(place / DATA)!r}; run 'tarry reproduce' first."
        )
    judged = {payoff: results[payoff] for payoff in PAYOFFS if payoff in results}
    whole = {
        payoff: joined(result, results[f"{payoff}-field"])
        if f"{payoff}-field" in results
        else result
        for payoff, result in judged.items()
    }
    grown = {
        name: growths(scaling, results[f"scaling-{name}"])
        for name, scaling in scaling_experiments().items()
        if f"scaling-{name}" in results
    }
    claims = [*paper_claims(judged), *our_claims(whole, judged), *scaling_claims(grown)]
    return Found(results, judged, whole, grown, events, claims)


def finished(folder: Path) -> list[str]:
    """The names of the complete results in a folder, which are those of their own folders."""
    names = [
        *(f"{payoff}{kind}" for kind in ("", "-field") for payoff in PAYOFFS),
        *(f"variation-{payoff}" for payoff in PAYOFFS),
        *(f"scaling-{name}" for name in scaling_experiments()),
    ]
    return [name for name in names if (folder / name / "results.parquet").exists()]


def read_event_rows(path: Path) -> list[EventRow]:
    """What was kept of the good event."""
    if not path.exists():
        return []
    try:
        return [EventRow(**row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{str(path)!r} is damaged; remove it and run again.") from error


def verdict_records(claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """The verdicts for programs."""
    return [
        {
            "claim": claim.claim,
            "payoff": claim.payoff,
            "problem": claim.where,
            "measured": claim.measured,
            "runs": claim.runs,
            "p": claim.test.p,
            "verdict": claim.verdict,
        }
        for claim in claims
    ]
