"""How often each tight bound misses, at a level where misses can be counted."""

import math
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from rich.progress import track

import tarry
from tarry.arrays import FloatArray, Ints
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies import Setting
from tarry.policies.bins import geometric_edges
from tarry.policies.elimination.tight_bounds import ledger_lower, ledger_upper, tight_missing_bound
from tarry.policies.increments import Increments, no_increments
from tarry.problems.problem import Problem
from tarry.randomness import Random
from tarry.tables import markdown_table

MOST, STEPS, GRID = 60, 200, 8
KINDS = ("increments, lower", "increments, upper", "means, lower", "means, upper", "missing plays")


class AdaptiveRule(NamedTuple):
    """Plays arm 0 while its answers are short and the other arm for a while after a long one."""

    edges: Ints
    evidence: Increments
    wait: Ints
    bounds: FloatArray
    levels: FloatArray  # of one bound, of an increment, of one of two means

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The arm; in the last step also the bounds of arm 0."""
        if plays.number[row] == STEPS:
            self.bounds[0] = self.evidence.increments_lower(0, ledger.plays[0], self.levels[1])
            self.bounds[1] = self.evidence.increments_upper(0, self.levels[1])
            self.bounds[2] = ledger_lower(ledger, 0, now, MOST, self.levels[2])
            self.bounds[3] = ledger_upper(ledger, 0, MOST, self.levels[2])
            self.bounds[4] = tight_missing_bound(ledger.missing(0), 1, MOST, self.levels[0])
        arm = 1 if self.wait[0] > 0 else 0
        self.wait[0] = max(self.wait[0] - 1, 0)
        return arm

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer, which decides who is played next."""
        self.evidence.add_answer(plays.arm[row], plays.delay[row])
        if plays.arm[row] == 0 and plays.delay[row] > MOST // 3:
            self.wait[0] = 3

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out."""
        self.evidence.add_full(plays.arm[row], edge)

    def aged(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play, back or not, is as old as an edge."""
        self.evidence.add_old(plays.arm[row], edge)


class Adaptive:
    """The policy; `rule` is the one started last."""

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    needs_horizon: ClassVar[bool] = True

    def __init__(self, miss: float) -> None:
        self.level = -math.log(miss)
        self.rule: AdaptiveRule | None = None

    def start(self, setting: Setting) -> AdaptiveRule:
        """Nothing known."""
        evidence = no_increments(2, MOST, geometric_edges(MOST, GRID))
        grid = len(evidence.edges)
        levels = [self.level, self.level + math.log(grid), self.level + math.log(2)]
        self.rule = AdaptiveRule(
            evidence.edges, evidence, np.zeros(1, np.int64), np.zeros(5), np.array(levels)
        )
        return self.rule


def problems() -> dict[str, Problem]:
    """Laws of arm 0; arm 1 is only there to make time pass."""
    pmf, other = tarry.problems.from_pmf, ([1], [1.0])
    return {
        "0 or D, even chances": pmf([([0, MOST], [0.5, 0.5]), other], MOST),
        "D once in ten": pmf([([0, MOST], [0.9, 0.1]), other], MOST),
        "evenly spread": pmf([(np.arange(MOST + 1), np.full(MOST + 1, 1 / 61)), other], MOST),
        "mostly short": pmf([([1, 4, MOST], [0.6, 0.35, 0.05]), other], MOST),
        "always 20": pmf([([20], [1.0]), other], MOST),
    }


def coverage(runs: int, miss: float = 0.1) -> str:
    """A table of how often each bound misses when it may in a fraction `miss` of the runs."""
    policy = Adaptive(miss)
    rows = []
    for name, problem in problems().items():
        missed = np.zeros(len(KINDS))
        for seed in track(range(runs), f"coverage, {name}"):
            tarry.play(policy, problem, payoff="cost", horizon=STEPS, seed=seed, record=1)
            assert policy.rule is not None
            bounds, mean = policy.rule.bounds, problem.means[0]
            missed += [
                bounds[0] > mean + 1e-12,
                bounds[1] < mean - 1e-12,
                bounds[2] > mean + 1e-12,
                bounds[3] < mean - 1e-12,
                bounds[4] > mean + 1e-12,
            ]
        assert missed.max() <= runs * miss + 4 * math.sqrt(runs * miss)
        rows.append([name, *(f"{100 * m / runs:.2g} %" for m in missed)])
    return markdown_table(["law", *KINDS], rows)
