"""What plays of an arm for requests near one took, whatever the model says of it.

The odds to come back move steadily with each number, and the square of a number beside it bends
them by a parabola. Other bends and steps are nothing that the model can say, and it is the surer of
its mean there the more plays there are: where a mean of 0.3 + n^2 bends, none of 20 intervals held
it after 2500 plays, and where a step was near, none either. So an interval allows what plays for
requests near this one allow by themselves. With more than a few numbers hardly a play is near, and
nothing is added.
"""

import json
from collections.abc import Sequence

import numpy as np

from tarry.live.core import Core
from tarry.live.plays import Arm
from tarry.live.register import Columns
from tarry.live.request_alike import allowing, by_themselves
from tarry.live.request_means import Estimate, scaled

NEAR = 0.25  # deviations, in every number
FEWEST = 10  # plays near a request that say something by themselves
MOST, MOST_NUMBERS = 1000, 5000  # latest plays of an arm that are looked at, and numbers of theirs


def with_near(core: Core, arm: Arm, now: int, numbers: Sequence[float], e: Estimate) -> Estimate:
    """An estimate that allows what plays for requests near this one took, too.

    Where evidence fades, nothing is added: those plays may be of another time.
    """
    if core.open.rule.keep < 1.0:
        return e
    own = by_themselves(core, near(core, arm, numbers), now)
    return e if own.plays < FEWEST else allowing(e, own.estimate)


def near(core: Core, arm: Arm, numbers: Sequence[float]) -> Columns:
    """The latest plays of an arm for requests with nearly these numbers, and the same missing."""
    register, requests, rule = core.register, core.requests, core.open.rule
    first = register.oldest
    known = register.look(first, register.last + 1)
    mine = np.flatnonzero(known.slot == arm.slot)[-min(MOST, MOST_NUMBERS // len(numbers) + 1) :]
    contexts = np.full((len(mine), len(numbers)), np.nan)
    for row, number in enumerate((mine + first).tolist()):
        text = requests.texts.get(number, "")
        if text and requests.features is not None:
            contexts[row] = requests.features.numbers(json.loads(text))[0]
    wanted = np.array([numbers], float)
    apart = np.abs(scaled(rule, contexts) - scaled(rule, wanted)).max(axis=1)
    alike = (np.isnan(contexts) == np.isnan(wanted)).all(axis=1)
    return Columns(*(column[mine[alike & (apart <= NEAR)]] for column in known))
