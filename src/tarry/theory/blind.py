"""The delay floor: what is lost before anything can be known."""

from tarry.checks import check_whole
from tarry.problems.law import Law
from tarry.problems.problem import Payoff, Problem


def agreement(first: Law, second: Law) -> int:
    """The largest x such that both laws give every delay below x the same probability.

    Until a play has age x nothing about it tells which of the two laws it follows. For equal laws
    it is one more than the largest delay: they never differ.

    >>> agreement(Law([50], [1.0]), Law([4000], [1.0]))
    50
    """
    mine = dict(zip(first.values.tolist(), first.probabilities.tolist(), strict=True))
    yours = dict(zip(second.values.tolist(), second.probabilities.tolist(), strict=True))
    for value in sorted({*mine, *yours}):
        if mine.get(value) != yours.get(value):
            return value
    return int(first.values[-1]) + 1


def delay_floor(problem: Problem, payoff: Payoff, horizon: int) -> float:
    """What any policy loses on average if nobody tells it which arm is which.

    Take arms G, the best one among them, whose laws agree on all delays below x. In the first
    x + 1 steps they look the same, so if the labels of G are drawn by lot, a play in G costs
    the mean gap of G, and a play elsewhere at least the least gap there:

        floor = min(x + 1, T) * min( mean gap of G, least gap outside G )

    and the greatest of these over the G that consist of the best arm and one other, and of all arms
    that agree with it up to some x. On the paper's fixed delays this is its lower bound d* (cost)
    or d_bar (reward) with exact constants.

    It holds for the average over the labels, for every policy and every horizon T. It says little
    where laws differ from the start: two arms with different chances of delay 0 can be told apart
    from the first answer on, and all that is left is the first step, which is always blind.

    >>> import tarry
    >>> problem = tarry.problems.deterministic([50, 4000], max_delay=4000)
    >>> round(delay_floor(problem, "cost", 10_000), 4)    # (50 + 1) * (1 - 50/4000) / 2
    25.1813
    """
    steps = check_whole("horizon", horizon, 1)
    return max(
        (min(blind, steps) * price for blind, price in blind_groups(problem, payoff)), default=0.0
    )


def blind_groups(problem: Problem, payoff: Payoff) -> list[tuple[int, float]]:
    """Of each group of arms that look alike: in how many steps, and what each of them costs."""
    best = problem.best(payoff)
    gaps = problem.gaps(payoff).tolist()
    others = [arm for arm in range(problem.arms) if arm != best]
    same = {arm: agreement(problem.laws[best], problem.laws[arm]) for arm in others}
    groups = [[arm] for arm in others]
    groups += [[arm for arm in others if same[arm] >= x] for x in sorted(set(same.values()))]
    found = []
    for group in groups:
        blind = min(same[arm] for arm in group) + 1
        inside = sum(gaps[arm] for arm in group) / (len(group) + 1)
        outside = min((gaps[arm] for arm in others if arm not in group), default=inside)
        found.append((blind, min(inside, outside)))
    return found
