"""Running many policies on many problems with two threads and a progress bar."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import tarry
from benchmarks.kept import code_of, keep, kept
from tarry.arrays import FloatArray
from tarry.problems.problem import Payoff, Problem
from tarry.tables import markdown_table

THREADS = 2  # compiled runs do not hold the interpreter
TOGETHER = 4  # runs between two writings of a file


class Cell(NamedTuple):
    """One policy in one setting."""

    row: str
    column: str
    policy: Any
    payoff: Payoff
    problems: Sequence[Problem]
    horizon: int


Table = Mapping[tuple[str, str], FloatArray]  # (row, column) -> regret of each problem


def regret(cell: Cell, number: int) -> float:
    """Regret at the horizon on one of the problems; its number is the seed of the delays."""
    run = tarry.play(
        cell.policy,
        cell.problems[number],
        payoff=cell.payoff,
        horizon=cell.horizon,
        seed=number,
        record=1,
    )
    return float(run.regret[-1])


def measure(cells: Iterable[Cell], title: str, folder: Path | None = None) -> Table:
    """All regrets of all cells; with a folder they are kept there and not made again."""
    cells = list(cells)
    for cell in {type(cell.policy.start(_tiny())): cell for cell in cells}.values():
        regret(cell._replace(horizon=10), 0)  # compile once, outside the threads
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    results = {}
    with Progress(*columns) as bar, ThreadPoolExecutor(THREADS) as pool:
        task = bar.add_task(title, total=sum(len(cell.problems) for cell in cells))
        for cell in cells:
            path = folder / file_name(title, cell) if folder else None
            code = code_of(cell.policy)
            values = kept(path, code).get("regret", np.zeros(0)).tolist() if path else []
            bar.advance(task, len(values))
            while len(values) < len(cell.problems):
                some = range(len(values), len(cell.problems))[:TOGETHER]
                for value in pool.map(lambda n, c=cell: regret(c, n), some):
                    values.append(value)
                    bar.advance(task)
                if path:
                    keep(path, code, regret=np.array(values))
            results[cell.row, cell.column] = np.array(values)
    return results


def file_name(title: str, cell: Cell) -> str:
    """Where the runs of a cell are kept."""
    text = f"{title} {cell.row} {cell.column} {cell.horizon}"
    return "".join(letter if letter.isalnum() else "-" for letter in text) + ".npz"


def _tiny() -> tarry.Setting:
    return tarry.Setting(arms=2, max_delay=4, horizon=10, reward=False)


def written(value: float) -> str:
    """Three digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table_of(results: Table, *, worst: bool = False) -> str:
    """Mean regret by row and column, with the worst run in brackets if asked for."""
    rows = list(dict.fromkeys(row for row, _ in results))
    columns = list(dict.fromkeys(column for _, column in results))

    def entry(row: str, column: str) -> str:
        values = results.get((row, column))
        if values is None:
            return ""
        text = written(float(values.mean()))
        return f"{text} ({written(float(values.max()))})" if worst else text

    body = [[row, *(entry(row, column) for column in columns)] for row in rows]
    return markdown_table(["", *columns], body)
