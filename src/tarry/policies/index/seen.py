"""What index policies on returned samples share: payoffs to be maximised, and arms without any.

A payoff is delay / D where delay is reward and 1 - delay / D where it is cost, so that more is
better in both, and the published index applies as it is.
"""

from tarry.ledger import Ledger


def first_unseen(ledger: Ledger) -> int:
    """The arm without an answer that has the fewest plays, -1 if every arm has one."""
    unseen = -1
    for arm in range(len(ledger.plays)):
        if ledger.seen[arm] == 0 and (unseen < 0 or ledger.plays[arm] < ledger.plays[unseen]):
            unseen = arm
    return unseen


def seen_payoff(ledger: Ledger, arm: int, max_delay: int, reward: bool) -> float:
    """The mean payoff over the seen plays of `arm`, of which there is at least one."""
    mean = ledger.seen_sum[arm] / (max_delay * ledger.seen[arm])
    return mean if reward else 1.0 - mean


def seen_loss(ledger: Ledger, arm: int, max_delay: int, reward: bool) -> float:
    """1 - payoff, likewise."""
    mean = ledger.seen_sum[arm] / (max_delay * ledger.seen[arm])
    return 1.0 - mean if reward else mean
