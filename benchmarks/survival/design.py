"""How the settings of SurvivalThompson and SurvivalUCB were chosen: one table per question."""

from collections.abc import Iterator, Mapping
from typing import Any

import tarry
from benchmarks.survival.runs import Cell, measure, table_of
from benchmarks.survival.shapes import ShapedThompson
from tarry.problems.problem import Problem


def worlds(count: int) -> Iterator[tuple[str, Any, list[Problem], int]]:
    """Columns of every table: name, payoff, problems and horizon."""
    makers = tarry.problems
    short = {"truncated_normal": "normal", "bernoulli": "Bernoulli"}
    for payoff in ("cost", "reward"):
        for family, name in short.items():
            make = makers.by_name(family)
            problems = [make(30, 5000, seed=2000 + s) for s in range(count)]
            yield f"{payoff}, {name}", payoff, problems, 150_000
    for payoff, family in (("cost", "cdn"), ("reward", "dwell")):
        problems = [makers.by_name(family)(seed=2000 + s) for s in range(2 * count)]
        yield f"{payoff}, {family}", payoff, problems, 30_000
    for most in (10**3, 10**6):
        pair = [makers.hard_cost(50, most, flipped=bool(s % 2)) for s in range(count)]
        yield f"cost, hard, D = {most:g}", "cost", pair, 100_000
    for most in (10**3, 10**6):
        pair = [makers.hard_reward(100, most, flipped=bool(s % 2)) for s in range(count)]
        yield f"reward, hard, D = {most:g}", "reward", pair, 100_000


QUESTIONS: dict[str, Mapping[str, Any]] = {
    "How is a mean drawn?": {
        "as it is": ShapedThompson(),
        "every hazard from its Beta law": ShapedThompson("exact"),
        "one Beta draw": ShapedThompson("beta"),
        "one normal draw": ShapedThompson("normal"),
    },
    "How many bins?": {f"{bins}": ShapedThompson(bins=bins) for bins in (8, 12, 24, 48)},
    "What does the pseudo-play weigh?": {
        f"{weight:g} plays": ShapedThompson(weight=weight) for weight in (0.25, 0.5, 1.0, 2.0)
    },
    "How many arms drawn anew, besides the one played?": {
        "1": ShapedThompson(others=1),
        "2": ShapedThompson(others=2),
        "4": ShapedThompson(),
        "all 30": ShapedThompson(others=29),
    },
    "How wide is the index of SurvivalUCB?": {
        f"z = {z:g}": tarry.SurvivalUCB(z=z) for z in (0.3, 0.5, 0.7, 1.0)
    },
}


def design(count: int) -> str:
    """All tables, in Markdown."""
    columns = list(worlds(count))
    pages = []
    for question, rows in QUESTIONS.items():
        cells = [
            Cell(row, column, policy, payoff, problems, horizon)
            for row, policy in rows.items()
            for column, payoff, problems, horizon in columns
        ]
        pages.append(f"### {question}\n\n{table_of(measure(cells, question), worst=True)}")
    return "\n\n".join(pages)
