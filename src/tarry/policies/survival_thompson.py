"""SurvivalThompson: Thompson sampling on survival curves, pending plays included."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.ledger import Ledger
from tarry.policies.protocol import Setting
from tarry.policies.survival_evidence import SurvivalEvidence, empty_evidence


class SurvivalThompsonRule(NamedTuple):
    """The running form of `SurvivalThompson`."""

    reward: bool
    redraws: int
    exact: float
    normal: bool
    edges: IntArray
    evidence: SurvivalEvidence
    draws: FloatArray  # the latest draw of each arm's mean payoff
    turn: IntArray  # the arm played last, or -1, and the arm whose turn to be drawn anew is next

    def select(self, ledger: Ledger, step: int, now: int, rng: np.random.Generator) -> int:
        """Draw the arm played last and `redraws` others anew; play the best of all draws."""
        arms = len(self.draws)
        if self.turn[0] < 0:
            for arm in range(arms):
                self.redraw(arm, rng)
        else:
            self.redraw(self.turn[0], rng)
            for _ in range(self.redraws):
                self.turn[1] += 1
                if self.turn[1] >= arms:
                    self.turn[1] = 0
                self.redraw(self.turn[1], rng)
        best = 0
        for arm in range(1, arms):
            if self.reward:
                if self.draws[arm] > self.draws[best]:
                    best = arm
            elif self.draws[arm] < self.draws[best]:
                best = arm
        self.turn[0] = best
        return best

    def redraw(self, arm: int, rng: np.random.Generator) -> None:
        """A new draw of the arm's mean payoff."""
        evidence = self.evidence
        if evidence.answers[arm] < self.exact:
            self.draws[arm] = evidence.draw_exactly(arm, rng)
            return
        evidence.refresh(arm)
        mean = evidence.mean[arm]
        variance = evidence.variance[arm]
        if self.normal:
            self.draws[arm] = mean + math.sqrt(variance) * rng.standard_normal()
            return
        weight = mean * (1.0 - mean) / max(variance, 1e-300) - 1.0
        weight = max(weight, 1e-3)
        self.draws[arm] = rng.beta(mean * weight, (1.0 - mean) * weight)

    def returned(self, arm: int, delay: int, rng: np.random.Generator) -> None:
        """An answer: an event in its bin."""
        self.evidence.book_event(arm, delay)

    def outlived(self, arm: int, edge: int) -> None:
        """A play still out has crossed the end of a bin."""
        self.evidence.book_pass(arm, edge)


@dataclass(frozen=True)
class SurvivalThompson:
    """Thompson sampling."""

    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    needs_horizon: ClassVar[bool] = False

    bins: int = 24
    mass: float = 1.0
    end: float = 0.04
    redraws: int = 1
    exact: float = 0.0
    normal: bool = False

    def start(self, setting: Setting) -> SurvivalThompsonRule:
        """The prior for every arm."""
        evidence = empty_evidence(
            setting.arms, setting.max_delay, self.bins, self.mass, self.end
        )
        return SurvivalThompsonRule(
            reward=setting.reward,
            redraws=self.redraws,
            exact=self.exact,
            normal=self.normal,
            edges=evidence.edges,
            evidence=evidence,
            draws=np.zeros(setting.arms),
            turn=np.array([-1, -1], np.int64),
        )
