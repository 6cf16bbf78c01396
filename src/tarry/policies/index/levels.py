"""How sure a bound must be at step t, without a horizon.

For independent payoffs in [0, 1] with mean q, and for every delta at most 1,

    P( some n >= 1 has  n kl(mean of the first n, q) >= log(2 sqrt(n) / delta) ) <= delta

(a mixture of likelihood ratios under the arcsine law and Ville's inequality; docs/increment-ucb.md
has the proof). With delta = 1 / (P t (1 + log t)) for each of P means the level of n plays is

    l = log(2 P t (1 + log t)) + (log n) / 2
"""

import math

GROWTH = 0.5  # of a level in the logarithm of its count


def anytime_base(variables: int, step: int) -> float:
    """log(2 P t (1 + log t)): the level of a mean of one play at step t.

    With GROWTH log n added for n plays, the chance that any of P means is off for any n is at most
    1 / (t (1 + log t)), the sum of which over all steps grows as log log T.
    """
    return math.log(2.0 * variables * step * (1.0 + math.log(step)))


def spread_factor(spread: float, seen: int, out: int) -> float:
    """By what the level of an arm is raised, between 1 and 1 + c: less while plays are out.

    (1 + c) seen / (seen + min(c seen, out)). An arm with plays in flight waits a little for them,
    which interleaves arms that are about as good.
    """
    if seen == 0:
        return 1.0
    return (1.0 + spread) * seen / (seen + min(spread * seen, out))
