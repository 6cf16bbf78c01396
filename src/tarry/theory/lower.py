"""The paper's lower bounds: the instances, what the paper prints, and the exact numbers.

In steps 1, ..., b + 1 nobody can tell two laws apart that agree on all delays below b: the play of
step s is first seen to differ at step s + b + 1. What an algorithm plays in these *blind* steps
is therefore the same under both instances of a pair, and it pays for it under one of them.

A lower bound is about a pair of instances: on one instance alone the algorithm that always plays
its best arm has no regret. The paper's appendix does not say so; its main text draws lots.
"""

from dataclasses import dataclass

from tarry.problems.hard import (
    hard_close,
    hard_conservative_cost,
    hard_conservative_reward,
    hard_cost,
    hard_reward,
)
from tarry.problems.problem import Payoff, Problem


@dataclass(frozen=True)
class LowerBound:
    """What a pair of instances costs, for horizons of at least `blind` steps."""

    instances: tuple[Problem, Problem]
    payoff: Payoff
    blind: int  # steps in which the two instances cannot be told apart
    average: float  # the mean of the expected regrets on the two is at least this
    worst: float  # the larger of the two is at least this
    printed: float  # the number in the paper's main text, or the order where it gives no constant
    applies_to: str = "any algorithm"


def lower_cost(best_delay: int, max_delay: int) -> LowerBound:
    """Delay as cost: two fixed delays, d* and D; regret of order d*.

    Of the d* + 1 blind steps half go to the wrong arm when the labels are drawn by lot, so that
    the average is (1 - d*/D) (d* + 1) / 2, at least d*/4 as the appendix has it. The main text
    prints (1 - mu*) d* >= d*/2, as if all blind steps went wrong.
    """
    pair = (hard_cost(best_delay, max_delay), hard_cost(best_delay, max_delay, flipped=True))
    return of_pair(pair, "cost", best_delay + 1, printed=best_delay / 2)


def lower_reward(second_delay: int, max_delay: int, arms: int = 2) -> LowerBound:
    """Delay as reward: fixed delays D, d_bar and 0 for all further arms; regret of order d_bar.

    The average is (1 - d_bar/D) (d_bar + 1) / 2: the arms with delay 0 cost more and say nothing
    about which of the other two is which. The main text prints d_bar / 2, for d_bar = D/2 only.
    """
    pair = (
        hard_reward(second_delay, max_delay, arms),
        hard_reward(second_delay, max_delay, arms, flipped=True),
    )
    return of_pair(pair, "reward", second_delay + 1, printed=second_delay / 2)


def lower_close(steady_delay: int, max_delay: int, payoff: Payoff = "cost") -> LowerBound:
    """A gap no larger than the mean: still of order d* (cost) or d_bar (reward).

    With mu = 2 `steady_delay` / D the gaps are mu/4 in instance A and mu/2 in B, and D/4 + 1 steps
    are blind: the average is at least (mu/8) (D/4 + 1), the worst (mu/6) (D/4 + 1). The paper
    concludes with an order, "D/8 plays at d*/D", which is d*/8 = D mu / 32 in instance A.
    """
    pair = (hard_close(steady_delay, max_delay, "A"), hard_close(steady_delay, max_delay, "B"))
    blind = int(pair[0].laws[0].values[-1]) + 1
    return of_pair(pair, payoff, blind, printed=steady_delay / 16)


def lower_conservative(delay: int, max_delay: int, payoff: Payoff = "cost") -> LowerBound:
    """Conservative successive elimination: of order sqrt(D d*) (cost) or sqrt(D d_bar) (reward).

    An algorithm that plays both arms in turn for as long as the instances cannot be told apart
    pays the gap of instance 1, at least 3/4, in half of the blind steps. The paper says they
    cannot be told apart until sqrt(D d*); in fact arm 0 of instance 1 answers after half of that,
    so sqrt(D d*)/2 + 1 steps are blind. It prints the order sqrt(D d*).
    """
    make = hard_conservative_cost if payoff == "cost" else hard_conservative_reward
    pair = (make(delay, max_delay, 1), make(delay, max_delay, 2))
    blind = int(pair[0].laws[0].values[-1]) + 1
    costs = [(blind // 2) * float(problem.gaps(payoff).max()) for problem in pair]
    return LowerBound(
        instances=pair,
        payoff=payoff,
        blind=blind,
        average=sum(costs) / 2,
        worst=max(costs),
        printed=(max_delay * delay) ** 0.5,
        applies_to="algorithms that play both arms in turn while neither is surely worse",
    )


def of_pair(
    pair: tuple[Problem, Problem], payoff: Payoff, blind: int, printed: float
) -> LowerBound:
    """What any algorithm pays on average, and on the worse of two instances.

    Let x of the blind plays go to the best arm of the first instance and y to that of the second,
    x + y <= blind. With a and b the least gaps, the first instance costs a (blind - x) >= a y, the
    second b (blind - y) >= b x. The mean of a y and b x over x + y = blind is least at a corner;
    the greater of the two is least where they are equal. A play of neither arm adds to both.
    """
    a, b = (least_gap(problem, payoff) for problem in pair)
    return LowerBound(
        instances=pair,
        payoff=payoff,
        blind=blind,
        average=blind * min(a, b) / 2,
        worst=blind * a * b / (a + b),
        printed=printed,
    )


def least_gap(problem: Problem, payoff: Payoff) -> float:
    """The gap of the second best arm."""
    gaps = problem.gaps(payoff)
    return float(gaps[gaps > 0].min())
