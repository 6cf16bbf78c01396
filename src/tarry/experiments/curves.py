"""Numbers behind tables and figures: means, bands, intervals, paired differences, slopes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from tarry.arrays import FloatArray, Steps
from tarry.errors import InputError
from tarry.tables import aligned, number

LEVEL = 0.95


class Curve(NamedTuple):
    """The runs of one policy on one problem, summed up at each recorded step."""

    steps: Steps
    mean: FloatArray
    std: FloatArray  # of the runs, with n - 1; the paper's band
    low: FloatArray  # 95 % interval of the mean (Student's t)
    high: FloatArray
    runs: npt.NDArray[np.int64]  # that reached the step
    few: FloatArray  # the 5 % quantile of the runs
    most: FloatArray  # the 95 % quantile
    worst: FloatArray  # the largest regret of all runs


def curve_of(steps: Steps, regret: FloatArray) -> Curve:
    """Sum up runs given as an array (runs, steps); NaN marks where a run had ended."""
    count = np.sum(~np.isnan(regret), axis=0)
    least = np.fmin.reduce(regret, axis=0)  # equal runs then have a deviation of exactly 0
    above = np.where(np.isnan(regret), 0.0, regret - least)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = least + above.sum(axis=0) / np.where(count, count, np.nan)
        squares = np.where(np.isnan(regret), 0.0, regret - mean) ** 2
        std = np.sqrt(squares.sum(axis=0) / np.where(count > 1, count - 1, np.nan))
        half = student(count - 1) * std / np.sqrt(count)
    few, most, worst = quantiles_of(regret, (0.05, 0.95, 1.0))
    return Curve(steps, mean, std, mean - half, mean + half, count, few, most, worst)


def quantiles_of(regret: FloatArray, shares: Sequence[float]) -> FloatArray:
    """Quantiles over the runs, one row for each share; NaN at steps that no run has reached."""
    found = np.full((len(shares), *regret.shape[1:]), np.nan)
    reached = ~np.all(np.isnan(regret), axis=0)
    known = regret[:, reached]
    take = np.nanquantile if np.isnan(known).any() else np.quantile
    found[:, reached] = take(known, shares, axis=0)
    return found


def student(degrees: npt.ArrayLike) -> FloatArray:
    """The factor of a standard error that makes a two-sided 95 % interval."""
    degrees = np.asarray(degrees, float)
    factor: FloatArray = stdtrit(np.where(degrees >= 1, degrees, np.nan), 0.5 + LEVEL / 2)
    return factor


class FinalRow(NamedTuple):
    """The regret of one policy on one problem at the horizon."""

    problem: str
    policy: str
    mean: float
    std: float
    low: float  # 95 % interval of the mean
    high: float
    runs: int  # that reached the horizon
    worst: float  # the largest regret of them
    quantiles: tuple[float, ...] = ()  # those that were asked for


def final_row(
    problem: str, policy: str, regret: FloatArray, shares: Sequence[float] = ()
) -> FinalRow:
    """Sum up the final regrets of the runs of a policy."""
    column = regret[:, np.newaxis]
    curve = curve_of(np.ones(1, np.int64), column)
    mean, std, low, high = (float(part[0]) for part in curve[1:5])
    asked = tuple(float(value[0]) for value in quantiles_of(column, shares)) if shares else ()
    runs, worst = int(curve.runs[0]), float(curve.worst[0])
    return FinalRow(problem, policy, mean, std, low, high, runs, worst, asked)


@dataclass(frozen=True)
class FinalTable(Sequence[FinalRow]):
    """The regret at the horizon, one row per problem and policy; prints as a table."""

    rows: Sequence[FinalRow]
    payoff: str
    shares: Sequence[float] = ()  # of the quantiles shown, with the worst run after them

    def __getitem__(self, number: int) -> FinalRow:  # type: ignore[override]  # rows only, no slices
        return self.rows[number]

    def __len__(self) -> int:
        return len(self.rows)

    def row(self, policy: str, problem: str | None = None) -> FinalRow:
        """The row of a policy, on a problem if there are several."""
        for row in self.rows:
            if row.policy == policy and problem in (None, row.problem):
                return row
        raise InputError(
            f"The table has no row for {policy!r}{f' on {problem!r}' if problem else ''}."
        )

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """The heads and the rows as text; the problem is left out where there is only one."""
        heads = ["problem", "policy", "mean", "std", "95 % interval"]
        tails = [f"{100 * share:g} %" for share in self.shares]
        heads += [*tails, "worst", "runs"] if tails else ["runs"]
        lines = [
            [
                row.problem,
                row.policy,
                number(row.mean),
                number(row.std),
                f"{number(row.low)} to {number(row.high)}" if row.runs > 1 else "-",
                *(number(value) for value in (*row.quantiles, row.worst) if self.shares),
                str(row.runs),
            ]
            for row in self.rows
        ]
        if len({row.problem for row in self.rows}) == 1:
            return heads[1:], [line[1:] for line in lines]
        return heads, lines

    def __str__(self) -> str:
        heads, lines = self.cells()
        return "\n".join(aligned([heads, *lines], left=range(heads.index("mean"))))


class Difference(NamedTuple):
    """Mean of paired differences, with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """-1 or 1 if the interval is on one side of 0, else 0: undecided."""
        return int(self.low > 0) - int(self.high < 0)


def paired_difference(one: FloatArray, other: FloatArray) -> Difference:
    """The first minus the other, for runs that met the same instances and delays."""
    row = final_row("", "", np.asarray(one, float) - np.asarray(other, float))
    return Difference(row.mean, row.low, row.high)


class Slope(NamedTuple):
    """A straight line through (log x, log y): y = factor * x**slope."""

    slope: float
    error: float  # standard error of the slope, from the scatter about the line
    factor: float

    def __str__(self) -> str:
        return f"{round(self.slope, 2) + 0.0:.2f} ± {max(self.error, 1e-4):.1g}"


def fit_slope(x: npt.ArrayLike, y: npt.ArrayLike) -> Slope:
    """Least squares of log y on log x; at least three points, all positive."""
    across, up = np.asarray(x, float), np.asarray(y, float)
    if len(across) < 3 or len(across) != len(up) or not (np.all(across > 0) and np.all(up > 0)):
        raise InputError(
            f"A slope needs at least 3 points, all positive; got x = {across.tolist()} "
            f"and y = {up.tolist()}."
        )
    u, v = np.log(across), np.log(up)
    spread = np.sum((u - u.mean()) ** 2)
    slope = float(np.sum((u - u.mean()) * v) / spread)
    rest = v - v.mean() - slope * (u - u.mean())
    error = float(np.sqrt(np.sum(rest**2) / (len(u) - 2) / spread))
    return Slope(slope, error, float(np.exp(v.mean() - slope * u.mean())))
