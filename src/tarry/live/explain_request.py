"""What is known for a request with a given context, and which features move which arm."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tarry.arrays import FloatArray
from tarry.errors import InputError
from tarry.live.core import Core
from tarry.live.explain import ArmReport, Explanation, explanation
from tarry.live.moving import moves
from tarry.live.plays import Arm
from tarry.live.request_alike import with_alike
from tarry.live.request_means import (
    by_curves,
    curves_of,
    plays_alike,
    scaled,
    unheard_of,
)
from tarry.live.request_near import with_near
from tarry.policies.label import policy_label

PAUSED = "paused: what is known of it for such a request is told when it is resumed"
LITTLE = 5.0  # plays for such requests: with fewer, little is known


def explained_for(core: Core, now: int, numbers: Sequence[float]) -> Explanation:
    """`explanation` with means, intervals and reasons for a request with these numbers.

    Both are by the curves of the rule, with plays that are out as old as they are now, and with
    more doubt the fewer plays an arm had for requests like it, and what plays for the very same
    request took is allowed too (`request_alike`), and for requests near it (`request_near`). Where
    plays for requests like it are very few, n, the share 1 - 0.05^(1/n) of such requests may be as
    quick or as slow as can be, and none of these plays would have shown it. With none the interval
    is 0 to max_delay, and so it is if a feature has another value than the only one so far, and for
    an arm that is paused: the evidence about it waits apart until it is resumed.
    """
    rule = core.open.rule
    if not hasattr(rule, "effects"):
        raise InputError(
            f"{policy_label(core.policy)} keeps no effects of features to explain; "
            f"tarry.SurvivalRegression() does."
        )
    z = scaled(rule, np.array([numbers], float))[0]
    plain, most = explanation(core, now), core.max_delay / 1e6
    rows = {
        row.arm: replace(row, low=0.0, high=most, why=PAUSED) if row.paused else row
        for row in plain.arms
    }
    for arm in core.open.arms:
        rows[arm.name] = for_arm(core, now, rows[arm.name], arm, numbers, z)
    return replace(plain, arms=tuple(rows.values()))


def for_arm(
    core: Core, now: int, row: ArmReport, arm: Arm, numbers: Sequence[float], z: FloatArray
) -> ArmReport:
    """The report on one arm for a request with these numbers, z as the rule scales them."""
    rule, unit = core.open.rule, core.max_delay / 1e6
    curves = curves_of(core, arm, now)
    if curves.known <= 0:
        return replace(row, low=0.0, high=unit, why="never played yet, or nothing was heard")
    alike = 0.0 if unheard_of(rule, numbers) else plays_alike(core, arm, z)
    estimate = by_curves(curves, z, alike, core.seed)
    estimate = with_alike(core, arm, now, numbers, curves, estimate)
    mean, low, high = with_near(core, arm, now, numbers, estimate)
    why = moves(core, arm.index, curves, numbers, z)
    if alike < LITTLE:
        unseen = 1.0 - 0.05 ** (1.0 / alike) if alike >= 1.0 else 1.0
        low, high = (1.0 - unseen) * low, unseen + (1.0 - unseen) * high
        count = f"about {alike:.0f} plays" if alike >= 1.5 else "hardly a play"
        why = f"little is known, {count} for such requests; {why}"
    return replace(row, mean=mean * unit, low=low * unit, high=high * unit, why=why)
