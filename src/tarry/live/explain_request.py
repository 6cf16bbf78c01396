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
LEAST = 0.05  # of the tilt of the odds: less is not worth a word
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
    """In words which features of the request in the table move this arm, the strongest first."""
    features = core.requests.features
    z, size = np.asarray(rule.scaler.z), len(rule.scaler.z)
    weights = np.asarray(rule.effects.weights)[2 * size * arm : 2 * size * arm + size]
    tilts = (weights * z)[:-1]  # without the constant term
    groups = features.groups(table.context[0]) if features else []
    totals = {label: float(tilts[part].sum()) for label, part in groups}
    strongest = sorted(totals, key=lambda label: -abs(totals[label]))[:SHOWN]
    words = [
        f"{label}: {'sooner' if totals[label] > 0 else 'later'}"
        for label in strongest
        if abs(totals[label]) >= LEAST
    ]
    return ", ".join(words) or "no feature of this request moves it"
