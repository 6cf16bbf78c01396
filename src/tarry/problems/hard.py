"""The instances behind the paper's lower bounds, with delays made whole.

Where the paper chooses instances or identities of arms at random, here an argument chooses, so
that a test can take both sides. Arms are numbered from 0; the paper's arm 1 is our arm 0.

Rounding, always half to even: probabilities stay the same in both instances of a pair, because
that is what makes them indistinguishable, and the delay that names an instance stays exact. Only
the other delays are rounded.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any, Literal

from tarry.checks import check_whole
from tarry.errors import InputError
from tarry.problems.delays import LARGEST_DELAY
from tarry.problems.law import Law
from tarry.problems.problem import Problem


def hard_cost(best_delay: int, max_delay: int, *, flipped: bool = False) -> Problem:
    """Cost, any algorithm: regret of order d* (the theorem with d* <= D/2).

    Two arms with fixed delays, d* = `best_delay` and D. Until step d* they cannot be told apart.
    Nothing is rounded. `flipped` exchanges the arms; the theorem picks one of the two at random.
    """
    most = check_whole("max_delay", max_delay, 2, LARGEST_DELAY)
    best = check_whole("best_delay", best_delay, 1, most // 2)
    laws = [point(best), point(most)]
    return made_by(laws[::-1] if flipped else laws, most, "hard_cost", best_delay=best)


def hard_reward(
    second_delay: int, max_delay: int, arms: int = 2, *, flipped: bool = False
) -> Problem:
    """Reward, any algorithm: regret of order d_bar (the theorem with d_bar <= D/2).

    Fixed delays: one arm D, one arm d_bar = `second_delay`, the remaining ones 0. Until step d_bar
    the two best cannot be told apart. Nothing is rounded. `flipped` exchanges these two.
    """
    most = check_whole("max_delay", max_delay, 2, LARGEST_DELAY)
    second = check_whole("second_delay", second_delay, 1, most // 2)
    count = check_whole("number of arms", arms, 2)
    top = [point(most), point(second)]
    laws = [*(top[::-1] if flipped else top), *[point(0)] * (count - 2)]
    return made_by(laws, most, "hard_reward", second_delay=second, arms=count)


def hard_close(steady_delay: int, max_delay: int, instance: Literal["A", "B"] = "A") -> Problem:
    """A gap no larger than the mean: regret of order d* (cost) or d_bar (reward) nonetheless.

    With mu = 2 * `steady_delay` / D, arm 1 always takes D mu / 2 = `steady_delay`, and arm 0 takes

        instance A: D/4 with probability mu, otherwise 0; mean D mu / 4
        instance B: D   with probability mu, otherwise 0; mean D mu

    so that arm 0 is the shorter one in A and the longer one in B, with gaps mu/4 and mu/2. Until
    step D/4 the two instances cannot be told apart. The paper proves the cost case and says that
    reward is similar: it is the same pair, with d_bar = D mu / 4 in A and D mu / 2 in B.
    `steady_delay` and mu are exact; D/4 is rounded.
    """
    most = check_whole("max_delay", max_delay, 4, LARGEST_DELAY)
    steady = check_whole("steady_delay", steady_delay, 1, most // 2)
    long = {"A": round(most / 4), "B": most}.get(instance)
    if long is None:
        raise InputError(f"The instance is {instance!r}; it must be 'A' or 'B'.")
    laws = [two_points(long, 2 * steady / most), point(steady)]
    return made_by(laws, most, "hard_close", steady_delay=steady, instance=instance)


def hard_conservative_cost(best_delay: int, max_delay: int, instance: Literal[1, 2] = 1) -> Problem:
    """Cost, successive elimination that is conservative: regret of order sqrt(D d*).

    With d* = `best_delay` <= D/4 and p = 2 sqrt(d*/D):

        instance 1: arm 0 takes sqrt(D d*)/2 with probability p, otherwise 0; arm 1 takes D
        instance 2: arm 0 takes D with probability p, otherwise 0; arm 1 takes sqrt(D d*)

    Arm 0 is the best of instance 1, with mean d*, and arm 1 of instance 2, so an algorithm that
    does not risk the best arm plays both for as long as the instances look the same.
    sqrt(D d*)/2 and sqrt(D d*) are rounded, and p is d* over the rounded sqrt(D d*)/2 in both
    instances, which keeps the mean of arm 0 in instance 1 at exactly d*.
    """
    return conservative("hard_conservative_cost", "best_delay", best_delay, max_delay, instance)


def hard_conservative_reward(
    second_delay: int, max_delay: int, instance: Literal[1, 2] = 1
) -> Problem:
    """Reward, successive elimination that is conservative: regret of order sqrt(D d_bar).

    The paper says only that the arguments of the cost case are similar. Indeed the same pair
    serves, with d_bar = `second_delay` <= D/4 in place of d*: now arm 1 (delay D) is the best of
    instance 1, arm 0 has mean d_bar and a gap of at least 3/4, and in instance 2 the best is arm 0
    (mean 2 sqrt(D d_bar)) instead of arm 1 (sqrt(D d_bar)). An algorithm that does not risk
    the best arm of instance 2 plays both, and pays the gap of instance 1, for as long as they look
    the same. Rounding as in `hard_conservative_cost`.
    """
    return conservative(
        "hard_conservative_reward", "second_delay", second_delay, max_delay, instance
    )


def conservative(maker: str, name: str, short: int, max_delay: int, instance: int) -> Problem:
    """The pair of instances that holds up conservative successive elimination."""
    most = check_whole("max_delay", max_delay, 4, LARGEST_DELAY)
    mean = check_whole(name, short, 1, most // 4)
    root = sqrt(most * mean)
    half = round(root / 2)
    pairs = {1: (half, most), 2: (most, round(root))}
    if instance not in pairs:
        raise InputError(f"The instance is {instance!r}; it must be 1 or 2.")
    spread, steady = pairs[instance]
    laws = [two_points(spread, mean / half), point(steady)]
    return made_by(laws, most, maker, **{name: mean}, instance=instance)


def point(delay: int) -> Law:
    """Always the same delay."""
    return Law([delay], [1.0])


def two_points(delay: int, probability: float) -> Law:
    """`delay` with a probability, otherwise 0."""
    return Law([0, delay], [1 - probability, probability])


def made_by(laws: list[Law], most: int, maker: str, **given: Any) -> Problem:
    """The problem, labelled with the call that made it."""
    words = [f"{name}={value!r}" for name, value in {**given, "max_delay": most}.items()]
    return Problem(laws, most, label=f"{maker}({', '.join(words)})")


HARD: dict[str, Callable[..., Problem]] = {
    instance.__name__: instance
    for instance in (
        hard_cost,
        hard_reward,
        hard_close,
        hard_conservative_cost,
        hard_conservative_reward,
    )
}
