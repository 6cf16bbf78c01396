"""The good event G, on which all proofs of the paper stand, measured in runs."""

from dataclasses import dataclass

import numpy as np

from tarry.arrays import FloatArray
from tarry.problems.problem import Problem
from tarry.theory.evidence import Evidence, Recorded, evidence


@dataclass(frozen=True)
class GoodEvent:
    """How often each part of G failed in one run, and how near it came.

    checks: how many inequalities of each part were checked.
    failures: how many did not hold.
    nearest: the least distance to failure, in units of the bound: 0.3 means that 30 % was left.
    allowed: the probability with which the paper's lemma lets the part fail anywhere in a phase.
    """

    checks: dict[str, int]
    failures: dict[str, int]
    nearest: dict[str, float]
    allowed: dict[str, float]

    @property
    def holds(self) -> bool:
        """Whether no part failed."""
        return not any(self.failures.values())


def good_event(run: Recorded, problem: Problem) -> GoodEvent:
    """Check the good event on a recorded run of a policy that eliminates (CSE, BDSE, SEPK, ...).

    With d(i) the mean delay, mu(i) the mean payoff, n plays of which m are missing and w started
    in the last D steps, R the size of the sweep, and L = log T (in a restarted phase, log of the
    steps left):

        missing:  m <= 2 d(i) / R + 16 L + 2
        mean:     | mean of all n payoffs - mu(i) | <= sqrt(2 L / n)
        few:      m >= (w mu(i) - 1) / 2 - 4 L          (only used by SE-PK)

    The first two are checked after each play, where m is largest and the mean changes, so a failure
    at any other step is found too. The third is checked at each test of an active arm: for arms
    removed long ago it is false, although the paper claims it for all (see the page on defects).

    >>> import tarry
    >>> problem = tarry.problems.deterministic([50, 4000], max_delay=4000)
    >>> run = tarry.play(tarry.BDSE(), problem, payoff="cost", horizon=5_000)
    >>> event = good_event(run, problem)
    >>> event.holds, event.failures
    (True, {'missing': 0, 'mean': 0, 'few': 0})
    """
    played = evidence(run, problem, after="play")
    tested = evidence(run, problem, after="sweep")
    margins = {
        "missing": missing_margin(played, problem),
        "mean": mean_margin(played, problem),
        "few": few_margin(tested, problem),
    }
    steps = float(run.horizon) ** 2
    return GoodEvent(
        checks={part: len(margin) for part, margin in margins.items()},
        failures={part: int((margin < 0).sum()) for part, margin in margins.items()},
        nearest={part: float(margin.min(initial=np.inf)) for part, margin in margins.items()},
        allowed={"missing": 1 / steps, "mean": 2 / steps, "few": 1 / steps},
    )


def missing_margin(known: Evidence, problem: Problem) -> FloatArray:
    """1 - m / bound."""
    delay = problem.mean_delays[known.arm]
    return 1 - known.missing / (2 * delay / known.spacing + 16 * known.log_term + 2)


def mean_margin(known: Evidence, problem: Problem) -> FloatArray:
    """1 - |error of the mean| / radius."""
    error = known.total / (problem.max_delay * known.plays) - problem.means[known.arm]
    return 1 - np.abs(error) / np.sqrt(2 * known.log_term / known.plays)


def few_margin(known: Evidence, problem: Problem) -> FloatArray:
    """(m - bound) / (4 L): how far above its lower bound m is."""
    least = (known.window * problem.means[known.arm] - 1) / 2 - 4 * known.log_term
    return (known.missing - least) / (4 * known.log_term)
