"""Numbers behind tables and figures: means, bands, intervals, paired differences, slopes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from tarry.arrays import FloatArray, Steps
from tarry.errors import InputError
from tarry.tables import Rows, aligned, number

LEVEL = 0.95


class RegretCurve(NamedTuple):
    """The runs of one policy on one problem, summed up at each recorded step."""

    steps: Steps
    mean: FloatArray
    std: FloatArray  # of the runs, with n - 1; the paper's band
    low: FloatArray  # 95 % interval of the mean; see `interval_of`
    high: FloatArray
    runs: npt.NDArray[np.int64]  # that reached the step
    few: FloatArray  # the 5 % quantile of the runs
    most: FloatArray  # the 95 % quantile
    worst: FloatArray  # the largest regret of all runs


def curve_of(steps: Steps, regret: FloatArray) -> RegretCurve:
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
    return RegretCurve(steps, mean, std, *interval_of(mean, half, least), count, few, most, worst)


def interval_of(
    mean: FloatArray, half: FloatArray, least: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The interval mean ± half of Student's t, unless it leaves the range of what is measured.

    Where nothing is below 0 (`least`), as with regret, a mean is not either. A few skewed runs can
    make mean - half negative; then the interval is taken on a logarithmic scale,
    mean * exp(± half / mean), whose upper end is farther away, as it should be for such runs.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        across = (least >= 0) & (mean > 0) & (half >= mean)
        factor = np.where(across, np.exp(half / mean), 1.0)
        low = np.where(across, mean / factor, mean - half)
        return low, np.where(across, mean * factor, mean + half)


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
class FinalTable(Rows[FinalRow]):
    """The regret at the horizon, one row per problem and policy; prints as a table."""

    rows: Sequence[FinalRow]
    payoff: str
    shares: Sequence[float] = ()  # of the quantiles shown, with the worst run after them

    def row(self, policy: str, problem: str | None = None) -> FinalRow:
        """The row of a policy, on a problem if there are several."""
        for row in self.rows:
            if row.policy == policy and problem in (None, row.problem):
                return row
        raise InputError(
            f"The table has no row for {policy!r}{f' on {problem!r}' if problem else ''}."
        )

    def records(self) -> list[dict[str, Any]]:
        """One dict per row, with an entry for each quantile that was asked for."""
        found = []
        for row in self.rows:
            record = row._asdict()
            quantiles = record.pop("quantiles")
            names = [f"quantile {share:g}" for share in self.shares]
            found.append({**record, **dict(zip(names, quantiles, strict=True))})
        return found

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
                span(row.low, row.high) if row.runs > 1 else "-",
                *(number(value) for value in (*row.quantiles, row.worst) if self.shares),
                str(row.runs),
            ]
            for row in self.rows
        ]
        return without_only_problem(heads, lines)

    def __str__(self) -> str:
        heads, lines = self.cells()
        return "\n".join(aligned([heads, *lines], left=range(heads.index("mean"))))


def span(low: float, high: float) -> str:
    """An interval as text."""
    return f"{number(low)} to {number(high)}"


def without_only_problem(
    heads: list[str], lines: list[list[str]]
) -> tuple[list[str], list[list[str]]]:
    """The same without the first column, the problem, where there is only one."""
    if len({line[0] for line in lines}) == 1:
        return heads[1:], [line[1:] for line in lines]
    return heads, lines


class PairedDifference(NamedTuple):
    """Mean of paired differences, with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """-1 or 1 if the interval is on one side of 0, else 0: undecided."""
        return int(self.low > 0) - int(self.high < 0)


def paired_difference(one: FloatArray, other: FloatArray) -> PairedDifference:
    """The first minus the other, for runs that met the same instances and delays."""
    apart = np.asarray(one, float) - np.asarray(other, float)
    apart = apart[~np.isnan(apart)]
    if not len(apart):
        return PairedDifference(np.nan, np.nan, np.nan)
    mean = float(apart.mean())
    spread = float(apart.std(ddof=1)) if len(apart) > 1 else np.nan
    half = float(student(len(apart) - 1)) * spread / len(apart) ** 0.5
    return PairedDifference(mean, mean - half, mean + half)


class DifferenceRow(NamedTuple):
    """The regret of a policy minus that of another on one problem, paired by run."""

    problem: str
    policy: str
    other: str
    mean: float  # negative if the policy has less regret
    low: float  # 95 % interval of the mean
    high: float
    less: float  # share of the runs in which the policy has less regret
    runs: int

    @property
    def sign(self) -> int:
        """-1 if the policy has less regret, 1 if it has more, 0 if the runs do not decide."""
        return PairedDifference(self.mean, self.low, self.high).sign


@dataclass(frozen=True)
class DifferenceTable(Rows[DifferenceRow]):
    """Paired differences at the horizon, one row per problem; prints as a table."""

    rows: Sequence[DifferenceRow]

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """The heads and the rows as text; the problem is left out where there is only one."""
        heads = [
            "problem",
            "regret of",
            "minus that of",
            "mean",
            "95 % interval",
            "less in",
            "runs",
        ]
        lines = [
            [
                row.problem,
                row.policy,
                row.other,
                number(row.mean),
                span(row.low, row.high) if row.runs > 1 else "-",
                f"{100 * row.less:.0f} %",
                str(row.runs),
            ]
            for row in self.rows
        ]
        return without_only_problem(heads, lines)

    def __str__(self) -> str:
        heads, lines = self.cells()
        return "\n".join(aligned([heads, *lines], left=range(len(heads) - 4)))


def difference_row(
    problem: str, policy: str, other: str, one: FloatArray, two: FloatArray
) -> DifferenceRow:
    """Sum up the final regrets of two policies, run by run."""
    gap = paired_difference(one, two)
    both = ~np.isnan(one - two)
    less = float(np.mean(one[both] < two[both])) if both.any() else np.nan
    return DifferenceRow(problem, policy, other, *gap, less, int(both.sum()))


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
