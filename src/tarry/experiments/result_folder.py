"""Results on disk: a folder with the description and one tidy Parquet table.

    experiment.json       policies, problems, seeds, settings, versions; written first
    parts/C-P-R.parquet   one finished run each, while the experiment is running
    results.parquet       all runs in one table, when it is complete; the parts are then removed

Every file appears by an atomic rename: it is complete or it does not exist. The table and the parts
carry the fingerprint of the experiment, so that nothing of another experiment is taken for its own.
The number of runs is not part of it: run r is the same in any number of runs, so more runs go on
from those that are there.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tarry.arrays import IntArray
from tarry.errors import ResultsError
from tarry.experiments.experiment import Experiment, Seeds, Task, key_of, seeds_of_run
from tarry.experiments.finished_run import FinishedRun
from tarry.experiments.result import Result, blank_records
from tarry.experiments.result_files import (
    DESCRIPTION,
    SCHEMA,
    damaged_file,
    read_description,
    read_table,
    table_bytes,
    with_facts,
    write_description,
    write_file,
)

TABLE, PARTS = "results.parquet", "parts"
KEPT = "; runs finished so far are kept"
NUMBERS = ("run", "step", "regret", "arm", "delay", "restarts")


class ResultFolder:
    """The folder of one experiment: what is finished in it, and where more is put."""

    def __init__(self, folder: str | os.PathLike[str], experiment: Experiment) -> None:
        """Open the folder, or make it; refuse that of another experiment."""
        self.folder = Path(folder)
        self.experiment = experiment
        write_description(self.folder, experiment.description)

    def complete(self) -> Result | None:
        """The result, if these runs or more were finished before."""
        there = self._in_table()
        if there is None or there.runs < self.experiment.runs:
            return None
        return there if there.runs == self.experiment.runs else there.first(self.experiment.runs)

    def finished(self) -> dict[Task, FinishedRun]:
        """The runs that were finished before: by fewer runs, or until an interruption."""
        there = self._in_table()
        found = {} if there is None else finished_runs(there)
        for path in sorted((self.folder / PARTS).glob("*.parquet")):
            finished = self._read_part(path)
            found[finished.task] = finished
        return found

    def add(self, finished: FinishedRun) -> None:
        """Keep a finished run."""
        task = finished.task
        case = self.experiment.cases[task.case]
        rows = len(finished.regret)
        label = self.experiment.labels[task.policy]
        columns = run_columns(case.name, label, task.run, finished.seeds, finished.world, rows)
        columns += [
            pa.array(case.steps[:rows]),
            pa.array(finished.regret),
            pa.array(finished.arms.astype(np.int32)),
            pa.array(finished.delays.astype(np.int32)),
            pa.array(finished.restarts),
        ]
        facts = {"key": self.experiment.key, "task": list(task), "code": finished.code}
        table = pa.Table.from_arrays(columns, schema=with_facts(facts))
        write_file(self.folder / PARTS / part_name(task), table_bytes(table), KEPT)

    def finish(self, result: Result) -> None:
        """Put the complete table in place of the parts."""
        save(result, self.folder)
        for path in (self.folder / PARTS).glob("*.parquet"):
            path.unlink(missing_ok=True)
        if (self.folder / PARTS).is_dir():
            (self.folder / PARTS).rmdir()

    def _in_table(self) -> Result | None:
        """What was finished as a whole, perhaps with another number of runs."""
        return read_result(self.folder) if (self.folder / TABLE).exists() else None

    def _read_part(self, path: Path) -> FinishedRun:
        table, facts = read_table(path)
        if facts.get("key") != self.experiment.key:
            raise ResultsError(f"{str(path)!r} belongs to another experiment; remove it.")
        task = Task(*facts["task"])
        case = self.experiment.cases[task.case]
        rows = table.num_rows
        if path.name != part_name(task) or table["step"].to_pylist() != case.steps[:rows].tolist():
            raise ResultsError(f"{str(path)!r} is damaged; remove it, and its run is done again.")
        worlds = table["world"].to_pylist()
        regret, arms, delays, restarts = (table[name].to_numpy() for name in NUMBERS[2:])
        return FinishedRun(
            task,
            seeds_of_run(self.experiment.seed, task.run),
            worlds[0] if worlds else "",
            regret,
            arms,
            delays,
            restarts,
            facts["code"],
        )


def save(result: Result, folder: str | os.PathLike[str]) -> None:
    """Write a result; a folder that holds another experiment is refused."""
    place = Path(folder)
    write_description(place, result.description)
    write_file(place / TABLE, table_bytes(tidy_table(result)), KEPT)


def load(folder: str | os.PathLike[str]) -> Result:
    """Read the result that `Result.save` wrote, or a comparison with `folder=...` left."""
    place = Path(folder)
    description = read_description(place)
    if description is None:
        raise ResultsError(
            f"There are no results in {str(folder)!r}: it has no file {DESCRIPTION}."
        )
    if not (place / TABLE).exists():
        raise unfinished(place, description, 0)
    result = read_result(place)
    if result.runs < description["runs"]:
        raise unfinished(place, description, tasks_of(result))
    return result


def read_result(place: Path) -> Result:
    """The result in the table of a folder."""
    table, facts = read_table(place / TABLE)
    described = facts.get("description")
    description = read_description(place)
    if description is None or not described or key_of(described) != key_of(description):
        raise ResultsError(
            f"{str(place / TABLE)!r} belongs to another experiment than {DESCRIPTION} beside it."
        )
    try:
        return result_of(described, table)
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise damaged_file(place / TABLE, error) from error


def unfinished(place: Path, description: Mapping[str, Any], done: int) -> ResultsError:
    """The sentence about a folder whose runs are not all there."""
    done += len(list((place / PARTS).glob("*.parquet")))
    total = description["runs"] * len(description["policies"]) * len(description["problems"])
    return ResultsError(
        f"The experiment in {str(place)!r} is not finished ({done} of {total} runs); "
        f"run the same comparison with this folder again to finish it."
    )


def tasks_of(result: Result) -> int:
    """How many runs of single policies on single problems are in a result."""
    return result.runs * len(result.policies) * len(result.problems)


def finished_runs(result: Result) -> dict[Task, FinishedRun]:
    """The runs of a result one by one, as they came when they were played."""
    code = result.description["versions"]["code"]
    found = {}
    for case, records in enumerate(result.records.values()):
        for policy in range(len(result.policies)):
            for run in range(result.runs):
                regret = records.regret[policy, run]
                rows = int(np.sum(~np.isnan(regret)))
                found[Task(run, case, policy)] = FinishedRun(
                    Task(run, case, policy),
                    seeds_of_run(result.seed, run),
                    records.worlds[run],
                    regret[:rows],
                    records.arms[policy, run, :rows],
                    records.delays[policy, run, :rows],
                    records.restarts[policy, run, :rows],
                    code,
                )
    return found


def tidy_table(result: Result) -> pa.Table:
    """All runs in one tidy table; a rule that gave up has no rows afterwards."""
    seeds = [seeds_of_run(result.seed, run) for run in range(result.runs)]
    pieces = []
    for name, records in result.records.items():
        for number, policy in enumerate(result.policies):
            for run in range(result.runs):
                regret = records.regret[number, run]
                rows = int(np.sum(~np.isnan(regret)))
                world = records.worlds[run]
                columns = run_columns(name, policy, run, seeds[run], world, rows)
                columns += [
                    pa.array(column[:rows])
                    for column in (
                        records.steps,
                        regret,
                        records.arms[number, run],
                        records.delays[number, run],
                        records.restarts[number, run],
                    )
                ]
                pieces.append(pa.Table.from_arrays(columns, schema=SCHEMA))
    facts = {"key": key_of(result.description), "description": result.description}
    whole = pa.concat_tables(pieces).unify_dictionaries().combine_chunks()
    return whole.replace_schema_metadata(with_facts(facts).metadata)


def result_of(description: Mapping[str, Any], table: pa.Table) -> Result:
    """The result that was made into this table."""
    names = [problem["name"] for problem in description["problems"]]
    case = codes(table["problem"], names)
    policy = codes(table["policy"], [policy["label"] for policy in description["policies"]])
    worlds = np.array(table["world"].to_pylist(), dtype=object)
    run, step, regret, arm, delay, restarts = (table[name].to_numpy() for name in NUMBERS)
    whole = {}
    for number, name in enumerate(names):
        records = blank_records(description, number)
        rows = np.flatnonzero(case == number)
        at = np.searchsorted(records.steps, step[rows])
        if not np.array_equal(records.steps[at], step[rows]):
            raise ValueError("its steps are not those of the description")
        places = (policy[rows], run[rows], at)
        records.regret[places] = regret[rows]
        records.arms[places] = arm[rows]
        records.delays[places] = delay[rows]
        records.restarts[places] = restarts[rows]
        np.maximum.accumulate(records.restarts, axis=-1, out=records.restarts)
        told = dict(zip(run[rows].tolist(), worlds[rows].tolist(), strict=True))
        instances = tuple(told.get(number, "") for number in range(description["runs"]))
        whole[name] = records._replace(worlds=instances)
    return Result(description, whole)


def codes(column: Any, names: list[str]) -> IntArray:
    """The number of each word of a column in a list of names."""
    number = {name: place for place, name in enumerate(names)}
    return np.array([number[word] for word in column.to_pylist()], np.int64)


def run_columns(
    problem: str, policy: str, run: int, seeds: Seeds, world: str, rows: int
) -> list[Any]:
    """The columns that are the same in all rows of a run."""
    words = [word_column(word, rows) for word in (problem, policy, world)]
    numbers = [
        pa.array(np.full(rows, value, kind))
        for value, kind in ((run, np.int32), (seeds.problem, np.uint32), (seeds.play, np.uint64))
    ]
    return [words[0], words[1], *numbers, words[2]]


def word_column(word: str, rows: int) -> Any:
    """A column with the same word in every row."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([word]))


def part_name(task: Task) -> str:
    """The file name of a run."""
    return f"{task.case:03d}-{task.policy:03d}-{task.run:06d}.parquet"
