"""What is played: small problems in thousands of runs, larger ones in hundreds.

No seed or instance of these served to choose between definitions or settings. Some problems showed
what SurvivalThompson lacked: `0, 20 or 200, three arms`, `299 or 240 of 300` and Bernoulli costs.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

import tarry
from tarry.problems.problem import Payoff, Problem
from tarry.theory.lower import LowerBound, lower_conservative, lower_cost, lower_reward

PAYOFFS: tuple[Payoff, Payoff] = ("cost", "reward")
EXAMPLE = "0 or 100, means .5 .4"
CLOSE = (
    "0 or 2, means .50 .48",
    "0 or 500, means .02 .04",
    "0, 20 or 200, three arms",
)
NARROW = (CLOSE[2], "reward")  # of 5000 runs 49 had ended wrong, of 20 000 then 182 for 168
LIMIT = ("5 or 500, or always 100", "reward")  # 1.13 times the rival's mean in 8000 other runs
FIRST_SEED = 500_000  # of the runs of all problems
REALISTIC: dict[str, Payoff] = {
    "cdn": "cost",
    "serverless": "cost",
    "dwell": "reward",
    "survival": "reward",
}
SIZES = (10**3, 10**4, 10**5, 10**6)


class World(NamedTuple):
    """One setting: a problem for each run."""

    group: str
    name: str
    payoff: Payoff
    horizon: int
    runs: int
    problem: Callable[[int], Problem]  # by number of the run
    rival: int = 10**9  # runs of DelayedThompson, at most
    most: int = 10**9  # runs of the other policies, at most
    first: int = 0  # runs of the first definition of SurvivalThompson
    floor: float = 0.0  # lower bound on the regret, where one is known

    @property
    def key(self) -> str:
        """A name for files."""
        text = f"{self.group} {self.payoff} {self.name} {self.horizon}"
        return "".join(letter if letter.isalnum() else "-" for letter in text)


def always(problem: Problem, run: int) -> Problem:
    """The same problem in every run."""
    return problem


def drawn(make: Callable[..., Problem], run: int, **settings: int) -> Problem:
    """An instance of a family, another in every run."""
    return make(seed=FIRST_SEED + run, **settings)


def in_turn(pair: LowerBound, run: int) -> Problem:
    """The two instances of a pair in turn."""
    return pair.instances[run % 2]


def spread(low: int, high: int) -> tuple[Any, Any]:
    """All whole numbers from low to high, equally likely."""
    values = np.arange(low, high + 1)
    return values, np.full(len(values), 1 / len(values))


def two_points(most: int, *means: float) -> Problem:
    """0 or D, with these mean payoffs."""
    return tarry.problems.from_pmf([([0, most], [1 - mean, mean]) for mean in means], most)


def small_problems() -> dict[str, tuple[Problem, int]]:
    """Two to five arms, D from 2 to 500, gaps from .02 to .5; problem and horizon by name."""
    pmf, fixed = tarry.problems.from_pmf, tarry.problems.deterministic
    return {
        EXAMPLE: (two_points(100, 0.5, 0.4), 20_000),
        "0 or 2, means .50 .48": (two_points(2, 0.5, 0.48), 40_000),
        "0 or 10, means .20 .25 .40": (two_points(10, 0.2, 0.25, 0.4), 20_000),
        "0 or 20, means .90 .95": (two_points(20, 0.9, 0.95), 20_000),
        "0 or 50, means .05 .55": (two_points(50, 0.05, 0.55), 5_000),
        "0 or 500, means .1 .3 .5 .7 .9": (two_points(500, 0.1, 0.3, 0.5, 0.7, 0.9), 5_000),
        "0 or 500, means .02 .04": (two_points(500, 0.02, 0.04), 20_000),
        "0..60, 0..100": (pmf([spread(0, 60), spread(0, 100)], 100), 5_000),
        "0..50, 0..48": (pmf([spread(0, 50), spread(0, 48)], 50), 20_000),
        "150..250, 170..270, 0..500": (
            pmf([spread(150, 250), spread(170, 270), spread(0, 500)], 500),
            10_000,
        ),
        "five of 0..20": (
            pmf([spread(k, 20 - 2 * k) for k in range(4)] + [spread(0, 12)], 20),
            10_000,
        ),
        "always 1 or always 2": (fixed([1, 2], 2), 5_000),
        "always 40, 42, 60 of 100": (fixed([40, 42, 60], 100), 5_000),
        "always 10, 250, 260, 400, 500": (fixed([10, 250, 260, 400, 500], 500), 5_000),
        "0 or 100, or always 50": (pmf([([0, 100], [0.6, 0.4]), ([50], [1])], 100), 5_000),
        "5 or 500, or always 100": (pmf([([5, 500], [0.9, 0.1]), ([100], [1])], 500), 5_000),
        "0, 20 or 200, three arms": (
            pmf(
                [
                    ([0, 20, 200], [0.3, 0.3, 0.4]),
                    ([0, 20, 200], [0.5, 0.1, 0.4]),
                    ([20, 200], [0.7, 0.3]),
                ],
                200,
            ),
            20_000,
        ),
        "299 or 240 of 300, or always 287": (
            pmf([([299, 240], [0.9, 0.1]), ([287], [1])], 300),
            20_000,
        ),
        "late: 200..300, 100 or 500": (
            pmf([spread(200, 300), ([100, 500], [0.75, 0.25])], 500),
            5_000,
        ),
    }


def small(runs: int) -> Iterator[World]:
    """Every small problem, as cost and as reward; then the pair of the example for longer.

    Where means differ by .02 and delays take two or three values, runs that end on a wrong arm are
    common for both policies that are compared and 99 % quantiles are vague: there these two make
    five times as many runs, and forty times as many where neither five nor twenty times decided.
    So they do where other seeds have shown a mean near the limit.
    """
    for name, (problem, horizon) in small_problems().items():
        for payoff in PAYOFFS:
            often = name in CLOSE or (name, payoff) == LIMIT
            count = runs * (40 if (name, payoff) == NARROW else 5 if often else 1)
            world = World("small", name, payoff, horizon, count, partial(always, problem))
            yield world._replace(most=runs)
    pair = small_problems()[EXAMPLE][0]
    few = runs // 5
    yield World(
        "example", EXAMPLE, "cost", 100_000, 5 * runs, partial(always, pair), rival=few, most=few
    )


def families(runs: int) -> Iterator[World]:
    """The paper's two families at their size, each run with an instance of its own.

    A worst run hangs on one instance, so SurvivalThompson and its first definition, which are
    compared, are given forty times as many, or twelve times of the family whose regrets vary less;
    a quarter or half as many had not decided whose worst runs are worse.
    """
    for family, name, times in (
        ("truncated_normal", "truncated normal", 12),
        ("bernoulli", "Bernoulli", 40),
    ):
        make = tarry.problems.by_name(family)
        for payoff in PAYOFFS:
            yield World(
                "family",
                name,
                payoff,
                150_000,
                times * runs,
                partial(drawn, make, arms=30, max_delay=5000),
                rival=runs,
                most=runs,
                first=times * runs,
            )


def realistic(runs: int) -> Iterator[World]:
    """Problems that look like real systems, each run with an instance of its own."""
    for family, payoff in REALISTIC.items():
        make = tarry.problems.by_name(family)
        yield World(
            "realistic",
            family,
            payoff,
            50_000,
            runs,
            partial(drawn, make),
        )


def hard_pairs(most: int) -> dict[str, LowerBound]:
    """Pairs of instances with a lower bound on the mean regret over both."""
    return {
        "d* = 50 or D": lower_cost(50, most),
        "d_bar = 100 or D": lower_reward(100, most),
        "conservative": lower_conservative(50, most, "cost"),
        "conservative reward": lower_conservative(50, most, "reward"),
    }


def hard(runs: int) -> Iterator[World]:
    """The paper's hard pairs, half of the runs on each instance."""
    for most in SIZES:
        for name, pair in hard_pairs(most).items():
            title = f"{name.removesuffix(' reward')}, D = {most}"
            yield World(
                "hard",
                title,
                pair.payoff,
                30_000,
                runs,
                partial(in_turn, pair),
                floor=pair.average,
            )


def timeouts(runs: int) -> Iterator[World]:
    """D far above all delays, with few arms and with many."""
    gammas = [stats.gamma(4, scale=mean / 4) for mean in (100, 120, 200)]
    twelve = [stats.gamma(4, scale=mean / 4) for mean in range(100, 340, 20)]
    many: dict[str, tuple[Problem, int]] = {
        "gamma, twelve means 100 120 .. 320": (
            tarry.problems.from_distributions(twelve, max_delay=10**6),
            50_000,
        ),
        "always 20 or 10, 49 arms and one": (
            tarry.problems.deterministic([20] * 49 + [10], max_delay=10**6),
            20_000,
        ),
    }
    for most in (10**4, 10**6):
        problem = tarry.problems.from_distributions(gammas, max_delay=most)
        fixed = tarry.problems.deterministic([20, 10], max_delay=most)
        for payoff in PAYOFFS:
            title = f"gamma, means 100 120 200, D = {most}"
            yield World("time-out", title, payoff, 50_000, runs, partial(always, problem))
            title = f"always 20 or 10, D = {most}"
            yield World("time-out", title, payoff, 20_000, runs, partial(always, fixed))
    for name, (problem, horizon) in many.items():
        for payoff in PAYOFFS:
            title = f"{name}, D = {10**6}"
            yield World("time-out", title, payoff, horizon, runs, partial(always, problem))


def all_worlds(*, quick: bool) -> list[World]:
    """Everything; with `quick` in so few runs that it takes a minute or two."""
    many, some = (20, 4) if quick else (1000, 100)
    parts = (small(many), families(some), realistic(some), hard(some), timeouts(some))
    return [world for part in parts for world in part]
