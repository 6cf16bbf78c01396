"""Stop or go on: a decision whose error rate holds at every look, however often one looks.

Conditions. The rows stand in the order in which the plays were made (or `start` tells it), every
play of an arm has the same law whatever came before, and no play is left out because of how it
went. Which arm is played may depend on everything seen so far. Plays may be given up for any
reason: nothing is assumed about what would have become of them.

The price of looking whenever one likes: limits about 1.8 times as wide as those of a single look
fixed in advance, so about 3.3 times as many plays (`python -m benchmarks.log_coverage`).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tarry.checks import check_payoff, check_share, shortened
from tarry.errors import InputError
from tarry.logs.answers import interval, shown
from tarry.logs.anytime import anytime_limits
from tarry.logs.by_arm import ByArm
from tarry.tables import aligned, number

if TYPE_CHECKING:
    from tarry.logs.log import Log
    from tarry.problems.problem import Payoff


@dataclass(frozen=True)
class Decision:
    """What `Log.decide` says; `bounds` are limits of the means that hold at every look."""

    stop: bool
    arm: str  # the arm to choose, or the one that could lose least so far
    payoff: str
    error: float
    tolerance: float
    loss: float  # at most so much worse than the best arm, with probability 1 - error
    bounds: dict[str, tuple[float, float]]

    @property
    def sentence(self) -> str:
        """The decision in words."""
        sure = f"with an error rate of {100 * self.error:g} % at every look"
        if not self.stop:
            return (
                f"Go on: the safest arm is {shown(self.arm)}, which may still lose up to "
                f"{number(self.loss)} against the best ({sure})."
            )
        if self.loss <= 0:
            return f"Stop: {shown(self.arm)} is the best arm ({sure})."
        most = number(self.loss)
        return f"Stop: {shown(self.arm)} is at most {most} worse than the best arm ({sure})."

    def __str__(self) -> str:
        rows = [[arm, interval(*limits)] for arm, limits in self.bounds.items()]
        return "\n".join([self.sentence, *aligned([["arm", "limits at every look"], *rows])])


def decide_log(log: "Log", payoff: "Payoff", *, error: float, tolerance: float) -> Decision:
    """Whether some arm is at most `tolerance` worse than every other, by limits for all looks.

    The probability that this ever stops with an arm that is worse by more is at most `error`.
    """
    reward = check_payoff(payoff)
    miss = check_share("error", error)
    slack = check_tolerance(tolerance)
    if len(log.names) < 2:
        raise InputError("The log has 1 arm; there is nothing to decide with fewer than 2.")
    bounds = {
        name: anytime_limits(*log.of_arm(name), log.max_delay, miss / len(log.names))
        for name in log.names
    }
    worst = {name: most_lost(bounds, name, reward=reward) for name in log.names}
    arm = min(worst, key=worst.__getitem__)
    return Decision(
        stop=worst[arm] <= slack,
        arm=arm,
        payoff=payoff,
        error=miss,
        tolerance=slack,
        loss=max(worst[arm], 0.0),
        bounds=ByArm(bounds),
    )


def most_lost(bounds: dict[str, tuple[float, float]], arm: str, *, reward: bool) -> float:
    """By how much any other arm may be better than this one."""
    low, high = bounds[arm]
    others = [limits for name, limits in bounds.items() if name != arm]
    if reward:
        return max(limits[1] for limits in others) - low
    return high - min(limits[0] for limits in others)


def check_tolerance(tolerance: object) -> float:
    """A number from 0 on."""
    real = isinstance(tolerance, int | float | np.integer | np.floating)
    if not real or not 0 <= tolerance < float("inf"):  # type: ignore[operator]  # a number
        raise InputError(
            f"The tolerance is {shortened(tolerance)}; it must be a number from 0 on, "
            "in the unit of the log."
        )
    return float(tolerance)  # type: ignore[arg-type]  # the same
