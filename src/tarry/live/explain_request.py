"""What is known for a request with a given context, and which features move which arm."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tarry.errors import InputError
from tarry.live.core import Core
from tarry.live.explain import ArmReport, Explanation, explanation
from tarry.plays import Plays, empty_plays
from tarry.policies.label import policy_label
from tarry.randomness import SELECT, new_random

DRAWS = 400
SHOWN = 3  # features
LEAST = 0.05  # of the tilt of the odds: less is not worth a word


def explained_for(core: Core, now: int, numbers: Sequence[float]) -> Explanation:
    """`explanation` with means, intervals and reasons for a request with these numbers.

    Means and intervals are of what the rule would draw for the request if contexts matter: the
    mean of its draws, and the range of 95 % of them.
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
    if rule.evidence.known(arm) <= 0:
        return replace(row, why="never played yet, or nothing was heard")
    rng = new_random(core.seed)
    drawn = []
    for number in range(1, DRAWS + 1):
        stream = rng.of_play(number, SELECT)
        tilts = rule.effects.draw_tilt(arm, rule.scaler.z, stream)
        drawn.append(rule.draw_tilted_mean(arm, *tilts, stream))
    times = np.array(drawn) * core.max_delay / 1e6
    low, high = np.quantile(times, [0.025, 0.975]).tolist()
    return replace(row, mean=float(times.mean()), low=low, high=high, why=moves(core, rule, arm))


def moves(core: Core, rule: Any, arm: int) -> str:
    """In words which features of the request looked at last move this arm, the strongest first."""
    features = core.requests.features
    z, size = np.asarray(rule.scaler.z), len(rule.scaler.z)
    weights = np.asarray(rule.effects.weights)[2 * size * arm : 2 * size * arm + size]
    tilts = weights * z
    names = features.columns if features else ()
    strongest = np.argsort(-np.abs(tilts))[:SHOWN].tolist()
    words = [
        f"{names[j]}: {'sooner' if tilts[j] > 0 else 'later'}"
        for j in strongest
        if abs(tilts[j]) >= LEAST
    ]
    return ", ".join(words) or "no feature of this request moves it"
