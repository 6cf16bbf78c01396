"""Who takes part, and with which seeds."""

from typing import Any

import tarry
from tarry.scenarios import (
    EpsilonGreedy,
    LeastRequest,
    LocalityAware,
    LowestMean,
    Oracle,
    PeakEWMA,
    RoundRobin,
)

OURS, BEST = "RegimeThompson", "best backend"
TARRY = ("SurvivalThompson",)  # other policies of tarry
# Settings are chosen with the first, and what is told comes from the second, which nothing else
# ever looks at.
SEEDS = {"tuning": range(1000, 1008), "report": range(880_000, 880_016)}


def entrants() -> dict[str, Any]:
    """All choosers by the name that tables have for them, the oracle first."""
    return {
        BEST: Oracle(),
        OURS: tarry.RegimeThompson(),
        "SurvivalThompson": tarry.SurvivalThompson(),
        "Peak EWMA, all": PeakEWMA(pick_two=False),
        "Peak EWMA, two": PeakEWMA(),
        "least request": LeastRequest(),
        "LALB": LocalityAware(),
        "LiteLLM": LowestMean(),
        "epsilon-greedy": EpsilonGreedy(),
        "round robin, ejecting": RoundRobin(ejection=True),
        "round robin": RoundRobin(),
    }
