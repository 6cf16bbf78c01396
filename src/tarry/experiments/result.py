"""What a comparison found: the recorded curves of every run, by problem and policy."""

import importlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray, Steps
from tarry.checks import check_whole, shortened
from tarry.errors import InputError, UnknownNameError
from tarry.experiments.curves import (
    DifferenceTable,
    FinalTable,
    RegretCurve,
    curve_of,
    difference_row,
    final_row,
)
from tarry.experiments.finished_run import FinishedRun
from tarry.tables import data_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Records(NamedTuple):
    """The records of one problem; arrays of shape (policies, runs, steps) but for the first two.

    A rule that gave up has no records afterwards: regret NaN, arm and delay -1.
    """

    steps: Steps
    worlds: tuple[str, ...]  # fingerprint of the instance of each run
    regret: FloatArray
    arms: IntArray
    delays: IntArray
    restarts: IntArray  # so far

    def first(self, runs: int) -> "Records":
        """Those of the first runs."""
        cut = [array[:, :runs] for array in self[2:]]
        return Records(self.steps, self.worlds[:runs], *cut)


@dataclass(frozen=True, eq=False)
class Result:
    """The result of `tarry.compare`: one curve for each problem, policy and run.

    Args:
        description: policies, problems, seeds, settings and versions, as in experiment.json.
        records: by problem name.

    One run is one observation. Regret is pseudo-regret: the gaps of the arms played, added up.
    """

    description: Mapping[str, Any] = field(repr=False)
    records: Mapping[str, Records] = field(repr=False)

    @property
    def policies(self) -> tuple[str, ...]:
        """The labels of the policies."""
        return tuple(policy["label"] for policy in self.description["policies"])

    @property
    def problems(self) -> tuple[str, ...]:
        """The names of the problems."""
        return tuple(self.records)

    @property
    def payoff(self) -> str:
        """What delays are: "cost" or "reward"."""
        return str(self.description["payoff"])

    @property
    def runs(self) -> int:
        """How often each policy played each problem."""
        return int(self.description["runs"])

    @property
    def seed(self) -> int:
        """The seed of the comparison."""
        return int(self.description["seed"])

    def changes(self, problem: str | None = None) -> Sequence[int]:
        """The steps at which a problem changes; none if it does not."""
        described = self.description["problems"][self._place(problem)]
        found: Sequence[int] = described.get("changes", ())
        return found

    def about(self, problem: str | None = None) -> Mapping[str, Any]:
        """What the experiment says of a problem besides its name, such as a parameter of it."""
        described: Mapping[str, Any] = self.description["problems"][self._place(problem)]["about"]
        return described

    def steps(self, problem: str | None = None) -> Steps:
        """The recorded steps; the last is the horizon."""
        return self._records(problem).steps

    def regret(self, policy: str, problem: str | None = None) -> FloatArray:
        """Cumulative pseudo-regret, shape (runs, steps)."""
        regret: FloatArray = self._records(problem).regret[self._number(policy)]
        return regret

    def restarts(self, policy: str, problem: str | None = None) -> IntArray:
        """How many restarts each run had by the horizon."""
        restarts: IntArray = self._records(problem).restarts[self._number(policy), :, -1]
        return restarts

    def curve(self, policy: str, problem: str | None = None) -> RegretCurve:
        """Mean, standard deviation and 95 % interval of the mean at each recorded step."""
        return curve_of(self.steps(problem), self.regret(policy, problem))

    def final(self, problem: str | None = None, *, quantiles: Sequence[float] = ()) -> FinalTable:
        """The regret at the horizon: policy, mean, std, 95 % interval of the mean.

        With `quantiles`, such as (0.5, 0.99), also those of the runs, and the worst run.
        """
        given: Any = quantiles
        if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str):
            raise InputError(
                f"quantiles is {shortened(given)}; it must be a list of numbers from 0 to 1."
            )
        for share in given:
            real = isinstance(share, int | float | np.integer | np.floating)
            if not real or not 0 <= share <= 1:
                raise InputError(f"A quantile is {share!r}; it must be a number from 0 to 1.")
        chosen = self.problems if problem is None else (self._name(problem),)
        rows = [
            final_row(name, policy, self.regret(policy, name)[:, -1], quantiles)
            for name in chosen
            for policy in self.policies
        ]
        return FinalTable(rows, self.payoff, quantiles)

    def differences(self, policy: str, other: str, problem: str | None = None) -> DifferenceTable:
        """Regret of `policy` minus that of `other` at the horizon, paired run by run.

        In a run all policies meet the same instance and the same delays, so the difference varies
        less than either regret, and its 95 % interval (Student's t) decides sooner.
        """
        chosen = self.problems if problem is None else (self._name(problem),)
        return DifferenceTable(
            [
                difference_row(
                    name,
                    policy,
                    other,
                    self.regret(policy, name)[:, -1],
                    self.regret(other, name)[:, -1],
                )
                for name in chosen
            ]
        )

    def first(self, runs: int) -> "Result":
        """The result of the first runs alone: what the same call with fewer runs gives."""
        check_whole("number of runs", runs, 1, self.runs)
        return Result(
            {**self.description, "runs": runs},
            {name: records.first(runs) for name, records in self.records.items()},
        )

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        axes: "Axes | None" = None,
        problems: Iterable[str] | None = None,
        policies: Iterable[str] | None = None,
        band: str = "std",
        log: bool = False,
    ) -> "Axes":
        """Draw the regret curves into a file (.svg, .png, .pdf), or into `axes`; show nothing.

        Policies differ by colour, problems by line style. `band` is "std" (one standard deviation
        of the runs to each side, as in the paper), "interval" (95 % interval of the mean),
        "quantiles" (the middle 90 % of the runs, with the worst as a thin line) or "none". `log`
        makes the regret axis logarithmic. Where problems change, thin vertical lines say when.
        Folders of the path that are missing are made.
        """
        figures = drawing()
        names = [self._name(name) for name in problems or self.problems]
        labels = [self.policies[self._number(policy)] for policy in policies or self.policies]
        curves = {(name, label): self.curve(label, name) for name in names for label in labels}
        marks = sorted({step for name in names for step in self.changes(name)})
        drawn: Axes = figures.plot_curves(
            curves, path=path, axes=axes, band=band, log=log, marks=marks
        )
        return drawn

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the result into a folder, which `tarry.load` reads back."""
        from tarry.experiments.result_folder import save

        save(self, folder)

    def table(self) -> Any:
        """One tidy table (pyarrow): a row for each problem, policy, run and recorded step."""
        from tarry.experiments.result_folder import tidy_table

        return tidy_table(self)

    def to_pandas(self) -> Any:
        """`table` as a pandas.DataFrame."""
        return data_frame("pandas", self.table())

    def to_polars(self) -> Any:
        """`table` as a polars.DataFrame."""
        return data_frame("polars", self.table())

    def __eq__(self, other: object) -> bool:
        """Whether both have the same curves, bit for bit, from the same settings."""
        if not isinstance(other, Result):
            return NotImplemented
        return self.description == other.description and all(
            same_bits(ours, theirs)
            for name in self.problems
            for ours, theirs in zip(self.records[name], other.records[name], strict=True)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays can change; mypy wants a method here

    def __repr__(self) -> str:
        """A line a person can read."""
        return (
            f"<Result: {len(self.policies)} policies, {len(self.problems)} problems, "
            f"{self.runs} runs, {self.payoff}>"
        )

    def _name(self, problem: str | None) -> str:
        if problem is None:
            if len(self.problems) > 1:
                raise InputError(
                    f"There are {len(self.problems)} problems; name one of {list(self.problems)}."
                )
            return self.problems[0]
        if problem not in self.records:
            raise UnknownNameError.of("problem", problem, self.problems)
        return problem

    def _place(self, problem: str | None) -> int:
        return self.problems.index(self._name(problem))

    def _records(self, problem: str | None) -> Records:
        return self.records[self._name(problem)]

    def _number(self, policy: str) -> int:
        if policy not in self.policies:
            raise UnknownNameError.of("policy", policy, self.policies)
        return self.policies.index(policy)


def drawing() -> Any:
    """The module that draws; a MissingExtraError if matplotlib is not there."""
    return importlib.import_module("tarry.experiments.figures")


def same_bits(one: Any, other: Any) -> bool:
    """Whether two arrays or tuples are equal, with NaN equal to NaN."""
    if isinstance(one, tuple):
        return bool(one == other)
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))


def blank_records(description: Mapping[str, Any], number: int) -> Records:
    """Records of problem number `number` in which nothing was played."""
    steps = np.array(description["problems"][number]["steps"], np.int64)
    shape = (len(description["policies"]), description["runs"], len(steps))
    return Records(
        steps,
        ("",) * description["runs"],
        np.full(shape, np.nan),
        np.full(shape, -1, np.int32),
        np.full(shape, -1, np.int32),
        np.zeros(shape, np.int32),
    )


def assemble(description: Mapping[str, Any], finished_runs: Iterable[FinishedRun]) -> Result:
    """The result that these finished runs make together, in whatever order they came."""
    problems = description["problems"]
    blanks = [blank_records(description, number) for number in range(len(problems))]
    worlds = [list(records.worlds) for records in blanks]
    for finished in finished_runs:
        records, task = blanks[finished.task.case], finished.task
        worlds[task.case][task.run] = finished.world
        rows = len(finished.regret)
        records.regret[task.policy, task.run, :rows] = finished.regret
        records.arms[task.policy, task.run, :rows] = finished.arms
        records.delays[task.policy, task.run, :rows] = finished.delays
        records.restarts[task.policy, task.run, :rows] = finished.restarts
    for records in blanks:
        np.maximum.accumulate(records.restarts, axis=-1, out=records.restarts)
    return Result(
        description,
        {
            problem["name"]: records._replace(worlds=tuple(names))
            for problem, records, names in zip(problems, blanks, worlds, strict=True)
        },
    )
