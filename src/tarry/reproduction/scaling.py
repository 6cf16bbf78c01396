"""Table 1 as pictures: how regret grows with D, d*, K and T on the paper's hard instances."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tarry import problems, theory
from tarry.arrays import FloatArray
from tarry.experiments.curves import Slope, fit_slope
from tarry.experiments.experiment import Case, Experiment, Source
from tarry.experiments.result import Result
from tarry.policies.from_text import parse_policy
from tarry.problems.problem import Payoff, Problem
from tarry.reproduction.verdicts import Line, line_of
from tarry.tables import aligned, number

OURS = ("IncrementUCB", "SurvivalUCB", "SurvivalThompson")
COST = ("BDSE", "BDSE(keep_history=True)", "SEPK", "OPSE", *OURS)
REWARD = ("BHSE", "BHSE(keep_history=True)", "SEPK", "OPSE", "CensoredUCB", *OURS)


@dataclass(frozen=True)
class ScalingExperiment:
    """Regret against one parameter, all else fixed.

    Args:
        title: for people.
        symbol: the parameter.
        axis: the same with what it means.
        payoff: "cost" or "reward".
        values: of the parameter, increasing.
        problem: from a value to a problem, or to a function that draws one for each run.
        horizon: T, or None where T is the parameter.
        policies: as text.
        laws: the slope that the paper's bounds predict in log-log, by policy.
        runs: of each policy at each value.
        against_log: the law is in the logarithm of the parameter.
        lower_bound: what the paper says that every policy pays here, if it says so.
    """

    title: str
    symbol: str
    axis: str
    payoff: Payoff
    values: Sequence[int]
    problem: Callable[..., Source]
    horizon: int | None
    policies: Sequence[str]
    laws: Mapping[str, float]
    runs: int = 5
    against_log: bool = False
    lower_bound: str = ""

    def experiment(self, seed: int = 0) -> Experiment:
        """One case for each value of the parameter."""
        cases = [
            Case(
                str(value),
                self.problem(value),
                self.horizon or value,
                points=1,
                about={"value": value},
            )
            for value in self.values
        ]
        policies = {text: parse_policy(text) for text in self.policies}
        return Experiment(policies, cases, self.payoff, self.runs, seed)


class Growth(NamedTuple):
    """How the regret of one policy grows over its values."""

    x: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    slope: Slope  # of log regret on log x, or on log log x
    line: FloatArray  # the fitted values
    law: float | None  # the slope that the paper's bounds predict
    fit: Line  # the slope with its interval, and whether the points lie on a line
    runs: int


def growths(scaling: ScalingExperiment, result: Result) -> dict[str, Growth]:
    """Mean regret at the horizon against the parameter, with fitted slopes, by policy."""
    x = np.array([float(result.about(name)["value"]) for name in result.problems])
    scale = np.log(x) if scaling.against_log else x
    found = {}
    for policy in result.policies:
        table = result.final()
        rows = [table.row(policy, problem) for problem in result.problems]
        mean, low, high = (
            np.array([getattr(row, part) for row in rows]) for part in ("mean", "low", "high")
        )
        slope = fit_slope(scale, mean)
        line = slope.factor * scale**slope.slope
        law, fit = scaling.laws.get(policy), line_of(scale, mean)
        found[policy] = Growth(x, mean, low, high, slope, line, law, fit, result.runs)
    return found


def delay_floors(scaling: ScalingExperiment, x: FloatArray) -> FloatArray:
    """What any policy pays at these values before anything can be known, with exact constants.

    On `hard_cost` and `hard_reward` this is the paper's lower bound. It is for the mean over the
    ways to label the arms, of which each run draws one by lot.
    """
    floors = []
    for value in x:
        case = Case(scaling.title, scaling.problem(int(value)), scaling.horizon or int(value))
        floors.append(theory.delay_floor(case.draw(0), scaling.payoff, case.horizon))
    return np.array(floors)


def many_slow_arms(arms: int) -> Problem:
    """Cost: one arm takes 50, all others D = 4000."""
    return problems.deterministic([50, *[4000] * (arms - 1)], max_delay=4000)


def four_coins(_horizon: int) -> Problem:
    """Four Bernoulli arms with means 0.2, 0.4, 0.6 and 0.8, D = 500."""
    return problems.bernoulli(max_delay=500, probabilities=[0.8, 0.6, 0.4, 0.2])


def scaling_experiments(*, quick: bool = False) -> dict[str, ScalingExperiment]:
    """All scaling_experiments by name; `quick` takes fewer values and shorter horizons."""
    steps = 160_000 if quick else 300_000
    runs = 2 if quick else 6

    def powers(first: int) -> list[int]:
        """Seven values, each twice the one before, or every other one of them."""
        return [first * 2**power for power in range(0, 7, 2 if quick else 1)]

    cost = {"BDSE": 0.0, "BDSE(keep_history=True)": 0.0, "SEPK": 0.5, "OPSE": 1.0}
    reward = {
        "BHSE": 0.0,
        "BHSE(keep_history=True)": 0.0,
        "SEPK": 0.5,
        "OPSE": 1.0,
        "CensoredUCB": 1.0,
    }
    return {
        "cost-max-delay": ScalingExperiment(
            "cost, against D (d* = 50)",
            "D",
            "D, the greatest delay",
            "cost",
            powers(2000),
            lambda most: problems.hard_conservative_cost(50, most),
            steps,
            COST,
            cost,
            runs,
        ),
        "reward-max-delay": ScalingExperiment(
            "reward, against D (second delay 50)",
            "D",
            "D, the greatest delay",
            "reward",
            powers(2000),
            lambda most: lambda seed: problems.hard_reward(50, most, flipped=seed % 2 == 1),
            steps,
            REWARD,
            reward,
            runs,
        ),
        "cost-best-delay": ScalingExperiment(
            "cost, against d* (D = 128 000)",
            "d*",
            "d*, the least mean delay",
            "cost",
            powers(250),
            lambda best: lambda seed: problems.hard_cost(best, 128_000, flipped=seed % 2 == 1),
            steps,
            COST,
            {"BDSE": 1.0, "BDSE(keep_history=True)": 1.0, "SEPK": 0.5, "OPSE": 0.0},
            runs,
            lower_bound="Lower bound, cost: every policy pays at least (1 − d*/D) (d* + 1) / 2.",
        ),
        "reward-second-delay": ScalingExperiment(
            "reward, against the second delay (D = 128 000)",
            "the second delay",
            "the second greatest mean delay",
            "reward",
            powers(250),
            lambda second: (
                lambda seed: problems.hard_reward(second, 128_000, flipped=seed % 2 == 1)
            ),
            steps,
            REWARD,
            {"BHSE": 1.0, "BHSE(keep_history=True)": 1.0, "SEPK": 0.5, "OPSE": 0.0},
            runs,
            lower_bound="Lower bound, reward: every policy pays at least (1 − d/D) (d + 1) / 2, "
            "with d the second delay.",
        ),
        "cost-arms": ScalingExperiment(
            "cost, against K (d* = 50, D = 4000)",
            "K",
            "K, the number of arms",
            "cost",
            powers(2),
            many_slow_arms,
            steps,
            COST,
            {"BDSE": 1.0, "BDSE(keep_history=True)": 1.0, "SEPK": 1.0, "OPSE": 1.0},
            runs,
        ),
        "cost-horizon": ScalingExperiment(
            "cost, against T (four Bernoulli arms, D = 500)",
            "T",
            "T, the horizon",
            "cost",
            [4**power * 1000 for power in range(2, 5 if quick else 6)],
            four_coins,
            None,
            COST,
            dict.fromkeys(("BDSE", "BDSE(keep_history=True)", "SEPK", "OPSE"), 1.0),
            2 * runs,
            against_log=True,
        ),
    }


def slope_lines(found: Mapping[str, Growth]) -> list[str]:
    """A table of slopes for a terminal."""
    rows = [
        [
            policy,
            f"{growth.fit.slope:.2f} ({growth.fit.low:.2f} to {growth.fit.high:.2f})",
            "-" if growth.law is None else f"{growth.law:g}",
            f"{number(growth.mean[0])} to {number(growth.mean[-1])}",
        ]
        for policy, growth in found.items()
    ]
    return list(aligned([["policy", "slope", "law", "regret"], *rows]))


def slope_records(
    name: str, scaling: ScalingExperiment, found: Mapping[str, Growth]
) -> list[dict[str, Any]]:
    """The same for programs: one record for each policy and value."""
    return [
        {
            "experiment": name,
            "payoff": scaling.payoff,
            "policy": policy,
            "parameter": scaling.symbol,
            "value": float(x),
            "mean": float(mean),
            "low": float(low),
            "high": float(high),
            "slope": growth.fit.slope,
            "slope_low": growth.fit.low,
            "slope_high": growth.fit.high,
            "straight": growth.fit.is_straight,
            "law": growth.law,
        }
        for policy, growth in found.items()
        for x, mean, low, high in zip(growth.x, growth.mean, growth.low, growth.high, strict=True)
    ]
