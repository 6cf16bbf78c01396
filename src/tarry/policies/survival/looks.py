"""Which arms a policy draws anew in a step, and which of all draws it plays.

A draw costs time, and an arm that is drawn often enough is some day drawn well. So a step draws
only some arms anew, and the rest keep their latest draw.
"""

from typing import Any

from tarry.arrays import Floats
from tarry.ledger import Ledger
from tarry.randomness import Random

OTHERS = 4  # arms whose turn it is in a step, besides the one played last


def best_draw(rule: Any, others: int, seldom: float, ledger: Ledger, rng: Random) -> int:
    """Draw the arm played last anew and look at `others` in turn; the arm with the least draw.

    An arm whose turn it is is drawn anew if something was heard of it since its latest draw. If
    not, then with x_a the latest draws, it is drawn anew with chance

        max(seldom, min(1, x_played / x_arm))

    so that far arms are drawn more rarely. All are drawn in every turn if `seldom` is 1, and in
    every step if none has to wait for its turn. `rule` has

        evidence    `SurvivalEvidence`, whose `stale` tells of whom something was heard
        draws       the latest draw of each arm: how far from the best payoff its mean is
        turn        the arm played last, or -1, and the other whose turn came last
        draw        a method (arm, rng) for a new draw
    """
    arms = len(rule.draws)
    played = rule.turn[0]
    if played < 0 or arms <= others:
        for arm in range(arms):
            rule.draws[arm] = rule.draw(arm, rng)
    else:
        rule.draws[played] = rule.draw(played, rng)
        other = rule.turn[1]
        always = seldom >= 1.0 or arms == others + 1
        for _ in range(others):
            other = next_other(other, played, arms)
            chance = 0.0 if always else rng.random()
            if (
                chance < seldom
                or rule.draws[other] * chance <= rule.draws[played]
                or rule.evidence.stale[other] != 0
            ):
                rule.draws[other] = rule.draw(other, rng)
        rule.turn[1] = other
    best = least(rule.draws, ledger)
    rule.turn[0] = best
    return best


def next_other(arm: int, played: int, arms: int) -> int:
    """The arm after this one, in a circle that leaves out the arm played last."""
    arm = arm + 1 if arm + 1 < arms else 0
    if arm == played:
        arm = arm + 1 if arm + 1 < arms else 0
    return arm


def least(draws: Floats, ledger: Ledger) -> int:
    """The arm with the least draw; of equal ones that with fewest plays, then the first."""
    best = 0
    for arm in range(1, len(draws)):
        if draws[arm] < draws[best] or (
            draws[arm] == draws[best] and ledger.plays[arm] < ledger.plays[best]
        ):
            best = arm
    return best
