"""What is known for a request with a given context, and which features move which arm."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tarry.errors import InputError
from tarry.live.core import Core
from tarry.live.explain import ArmReport, Explanation, explanation
from tarry.plays import Plays, empty_plays
from tarry.policies.label import policy_label
from tarry.policies.survival.evidence import draw_beta
from tarry.randomness import SELECT, new_random

DRAWS = 400
SHOWN = 3  # features
LEAST = 0.05  # of the mean: less is not worth a word
BY_CHANCE = 9.2  # chi square with two degrees of freedom, 99 %
NOTHING = "no feature of this request moves it"
WIDER = 2.0  # deviation of the log odds of a kind of request from what the features tell of it
LITTLE = 5.0  # plays for such requests: with fewer, little is known


def explained_for(core: Core, now: int, numbers: Sequence[float]) -> Explanation:
    """`explanation` with means, intervals and reasons for a request with these numbers.

    If contexts matter: the mean of what the weights tell of the request, and the range of 95 % of
    what they may be, with more doubt the fewer plays an arm had for requests like it. Where they
    are very few, n, the share 1 - 0.05^(1/n) of such requests may be as quick or as slow as can be,
    and none of these plays would have shown it. With none the interval is 0 to max_delay.
    """
    rule = core.open.rule
    if not hasattr(rule, "effects"):
        raise InputError(
            f"{policy_label(core.policy)} keeps no effects of features to explain; "
            f"tarry.SurvivalRegression() does."
        )
    table = empty_plays(1, features=len(numbers))
    table.context[0] = numbers
    plain = explanation(core, now)
    rows = {row.arm: row for row in plain.arms}
    for arm in core.open.arms:
        rows[arm.name] = for_arm(core, rule, rows[arm.name], arm.index, table)
    return replace(plain, arms=tuple(rows.values()))


def for_arm(core: Core, rule: Any, row: ArmReport, arm: int, table: Plays) -> ArmReport:
    """The report on one arm."""
    rule.scaler.look(table, 0)
    rule.common.gather(rule.evidence, rule.back, rule.tilted)
    unit = core.max_delay / 1e6
    if rule.evidence.known(arm) <= 0:
        return replace(row, low=0.0, high=unit, why="never played yet, or nothing was heard")
    z = rule.scaler.z
    alike = float(1.0 / max(rule.familiar.doubt(arm, z), 1e-12))
    rng = new_random(core.seed)
    expected, possible = [], []
    for number in range(1, DRAWS + 1):
        stream = rng.of_play(number, SELECT)
        _, _, steady, change = rule.effects.draw_tilt(arm, z, 1.0, stream)
        mean, square = rule.tilted_moments(arm, steady, change)
        expected.append(draw_beta(mean, square, stream))
        steady += WIDER / math.sqrt(1.0 + alike) * stream.normal()
        mean, square = rule.tilted_moments(arm, steady, change)
        possible.append(draw_beta(mean, square, stream))
    mean = float(np.mean(expected))
    low, high = np.quantile(possible, [0.025, 0.975]).tolist()
    why = moves(core, rule, arm, table)
    if alike < LITTLE:
        unseen = 1.0 - 0.05 ** (1.0 / alike) if alike >= 1.0 else 1.0
        low, high = (1.0 - unseen) * low, unseen + (1.0 - unseen) * high
        count = f"about {alike:.0f} plays" if alike >= 1.5 else "hardly a play"
        why = f"little is known, {count} for such requests; {why}"
    return replace(
        row, mean=mean * unit, low=min(low, mean) * unit, high=max(high, mean) * unit, why=why
    )


def moves(core: Core, rule: Any, arm: int, table: Plays) -> str:
    """In words which features of the request in the table move this arm, the strongest first.

    A feature is named if contexts are believed to matter for the arm, what its weights add to the
    tilts of this request is not 0 by chance (t' C^-1 t, with t its steady part and the one that
    changes with age, C their covariance), and the mean with it differs from that of a request
    that is usual in it.
    """
    features = core.requests.features
    if not features or rule.belief[arm] <= 0.0:
        return NOTHING
    z, size = np.asarray(rule.scaler.z), len(rule.scaler.z)
    weights = np.asarray(rule.effects.weights)[2 * size * arm :][: 2 * size].reshape(2, size)
    spread = np.asarray(rule.effects.spread)[(2 * size) ** 2 * arm :][: (2 * size) ** 2]
    spread = spread.reshape(2, size, 2, size)
    whole = weights @ z
    mean, _ = rule.tilted_moments(arm, *whole.tolist())
    moved = {}
    for label, part in features.groups(table.context[0]):
        tilts = weights[:, part] @ z[part]
        doubt = np.einsum("i,aibj,j->ab", z[part], spread[:, part, :, part], z[part])
        usual, _ = rule.tilted_moments(arm, *(whole - tilts).tolist())
        sure = tilts @ np.linalg.pinv(doubt) @ tilts > BY_CHANCE
        if sure and abs(mean - usual) >= LEAST * max(mean, usual):
            moved[label] = mean - usual
    strongest = sorted(moved, key=lambda label: -abs(moved[label]))[:SHOWN]
    words = [f"{label}: {'sooner' if moved[label] < 0 else 'later'}" for label in strongest]
    return ", ".join(words) or NOTHING
