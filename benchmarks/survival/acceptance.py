"""What SurvivalThompson, SurvivalUCB and the tight bounds must show, on fresh instances."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

import tarry
from benchmarks.limit import run_limit
from benchmarks.survival.runs import Cell, Table, measure, table_of, written
from benchmarks.timing import fastest
from tarry.problems.problem import Payoff, Problem
from tarry.tables import markdown_table
from tarry.theory.information import information_floor
from tarry.theory.lower import LowerBound, lower_close, lower_conservative, lower_cost, lower_reward

HORIZON, ARMS, MOST = 150_000, 30, 5000
FAMILIES = {"truncated normal": "truncated_normal", "Bernoulli": "bernoulli"}
REALISTIC: dict[str, Payoff] = {
    "cdn": "cost",
    "serverless": "cost",
    "dwell": "reward",
    "survival": "reward",
}
SIZES = (10**3, 10**4, 10**5, 10**6)
PAYOFFS: tuple[Payoff, Payoff] = ("cost", "reward")
FLOOR = "information floor"


def field(payoff: Payoff) -> dict[str, Any]:
    """The policies of the main table."""
    cls = tarry.BDSE if payoff == "cost" else tarry.BHSE
    return {
        "BDSE / BHSE": cls(),
        "with keep_history": cls(keep_history=True),
        'with bounds="tight"': cls(bounds="tight"),
        "OPSE": tarry.OPSE(),
        "DelayedThompson": tarry.DelayedThompson(),
        "SurvivalUCB": tarry.SurvivalUCB(),
        "SurvivalThompson": tarry.SurvivalThompson(),
    }


def main_cells(count: int) -> Iterator[Cell]:
    """Four settings, `count` fresh instances each."""
    for payoff in PAYOFFS:
        for name, family in FAMILIES.items():
            make = tarry.problems.by_name(family)
            problems = [make(ARMS, MOST, seed=7000 + s) for s in range(count)]
            for row, policy in field(payoff).items():
                yield Cell(row, f"{payoff}, {name}", policy, payoff, problems, HORIZON)


def floors(cells: list[Cell]) -> dict[str, float]:
    """The mean information floor of each column."""
    found: dict[str, float] = {}
    for cell in cells:
        if cell.column not in found:
            values = [information_floor(p, cell.payoff, cell.horizon) for p in cell.problems]
            found[cell.column] = float(np.mean(values))
    return found


def verdicts(results: Table, payoffs: Mapping[str, Payoff]) -> str:
    """The promises about the main table, as ratios; `payoffs` by column."""
    rows = []
    for column, payoff in payoffs.items():
        regret = {row: results[row, column] for row, c in results if c == column}
        mean = {row: float(values.mean()) for row, values in regret.items()}
        ours, paper = mean["SurvivalThompson"], mean["BDSE / BHSE"]
        checks = [
            ("SurvivalThompson / literal", ours / paper, 1 / 12),
            ("SurvivalThompson / DelayedThompson", ours / mean["DelayedThompson"], 0.6),
            (
                "its worst run / DelayedThompson",
                float(regret["SurvivalThompson"].max()) / mean["DelayedThompson"],
                2.0,
            ),
            ("SurvivalUCB / literal", mean["SurvivalUCB"] / paper, 0.25),
            (
                "tight / keep_history",
                mean['with bounds="tight"'] / mean["with keep_history"],
                0.5 if payoff == "cost" else 1.0,
            ),
        ]
        rows += [
            [column, what, f"{ratio:.3f}", f"{most:.3f}", "met" if ratio <= most else "MISSED"]
            for what, ratio, most in checks
        ]
    return markdown_table(["setting", "ratio", "measured", "at most", ""], rows)


def hard_pairs(most: int) -> dict[str, LowerBound]:
    """The instances behind the lower bounds of the paper, at this D."""
    return {
        "cost: d* = 50 or D": lower_cost(50, most),
        "cost: gap as small as mu*": lower_close(50, most, "cost"),
        "cost: conservative elimination": lower_conservative(50, most, "cost"),
        "reward: d_bar = 100 or D": lower_reward(100, most),
        "reward: gap as small as mu": lower_close(50, most, "reward"),
        "reward: conservative elimination": lower_conservative(50, most, "reward"),
    }


def hard(count: int) -> str:
    """Mean regret over both instances of each pair, next to the exact lower bound for the pair."""
    policies = ("SurvivalThompson", "SurvivalUCB", 'with bounds="tight"', "BDSE / BHSE")
    pairs = {(name, most): pair for most in SIZES for name, pair in hard_pairs(most).items()}
    cells = []
    for (name, most), pair in pairs.items():
        problems = [pair.instances[s % 2] for s in range(count)]
        cells += [
            Cell(
                f"{name}, D = {most}",
                policy,
                field(pair.payoff)[policy],
                pair.payoff,
                problems,
                2 * HORIZON,
            )
            for policy in policies
        ]
    results = measure(cells, "hard instances")
    rows = [
        [
            name,
            f"{most:g}",
            written(pairs[name, most].average),
            *(written(float(results[f"{name}, D = {most}", p].mean())) for p in policies),
        ]
        for name, most in sorted(pairs)
    ]
    return markdown_table(["pair", "D", "lower bound", *policies], rows)


def realistic(count: int) -> str:
    """All policies that serve the payoff, on problems that look like real systems."""
    cells = []
    for family, payoff in REALISTIC.items():
        problems: list[Problem] = [
            tarry.problems.by_name(family)(seed=7000 + s) for s in range(count)
        ]
        others = {
            "SE": tarry.SE(),
            "SEPK": tarry.SEPK(),
            "DelayedUCB": tarry.DelayedUCB(),
            "CensoredUCB": tarry.CensoredUCB(),
        }
        cells += [
            Cell(row, f"{payoff}, {family}", policy, payoff, problems, 50_000)
            for row, policy in {**others, **field(payoff)}.items()
        ]
    return table_of(measure(cells, "realistic families"), worst=True)


def speed() -> str:
    """Time per step as a multiple of the limit loop, in one run."""
    rows = []
    for name, family in FAMILIES.items():
        problem = tarry.problems.by_name(family)(ARMS, MOST, seed=7000)
        tasks: dict[str, Any] = {"limit": partial(run_limit, problem, "cost", HORIZON)}
        policies = field("cost")
        for row in ("SurvivalThompson", "SurvivalUCB", 'with bounds="tight"'):
            tasks[row] = partial(
                tarry.play, policies[row], problem, payoff="cost", horizon=HORIZON, record=10
            )
        for task in tasks.values():
            task()
        taken = fastest(tasks, rounds=6)
        rows += [
            [name, row, f"{taken[row] / taken['limit']:.1f}"] for row in tasks if row != "limit"
        ]
    return markdown_table(["world", "policy", "times the limit loop"], rows)


def main_page(count: int) -> str:
    """The main table, the floors and the verdicts."""
    cells = list(main_cells(count))
    results = measure(cells, "the paper's families")
    found = floors(cells)
    ratios = [
        f"{results['SurvivalThompson', column].mean() / floor:.2f}"
        for column, floor in found.items()
    ]
    floor_table = markdown_table(
        ["", *found],
        [
            [FLOOR, *(written(floor) for floor in found.values())],
            ["SurvivalThompson / floor", *ratios],
        ],
    )
    payoffs = {cell.column: cell.payoff for cell in cells}
    return "\n\n".join([table_of(results, worst=True), floor_table, verdicts(results, payoffs)])
