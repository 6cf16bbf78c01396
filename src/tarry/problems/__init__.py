"""Worlds: delay laws, families of problems, the hard instances of the paper, replayed tables."""

from collections.abc import Callable

from tarry.errors import UnknownNameError
from tarry.problems.adversaries import adversary
from tarry.problems.builders import deterministic, from_distributions, from_pmf, from_samples
from tarry.problems.changing import Changing, changing, drifting
from tarry.problems.contextual import Contextual, contextual
from tarry.problems.discretise import discretise
from tarry.problems.families import (
    FAMILIES,
    bernoulli,
    cdn,
    dwell,
    serverless,
    survival,
    truncated_normal,
)
from tarry.problems.hard import (
    HARD,
    hard_close,
    hard_conservative_cost,
    hard_conservative_reward,
    hard_cost,
    hard_reward,
)
from tarry.problems.heavy import pareto
from tarry.problems.law import Law
from tarry.problems.outages import outage
from tarry.problems.problem import Problem
from tarry.problems.problem_file import load
from tarry.problems.recorded import Replay, replay
from tarry.problems.regressions import (
    REGRESSIONS,
    linear,
    log_linear,
    no_answer,
    proportional_hazards,
)
from tarry.problems.requests import from_table, segments

__all__ = [
    "CHANGES",
    "FAMILIES",
    "HARD",
    "REGRESSIONS",
    "Changing",
    "Contextual",
    "Law",
    "Problem",
    "Replay",
    "adversary",
    "bernoulli",
    "by_name",
    "cdn",
    "changing",
    "contextual",
    "deterministic",
    "discretise",
    "drifting",
    "dwell",
    "from_distributions",
    "from_pmf",
    "from_samples",
    "from_table",
    "hard_close",
    "hard_conservative_cost",
    "hard_conservative_reward",
    "hard_cost",
    "hard_reward",
    "linear",
    "load",
    "log_linear",
    "no_answer",
    "outage",
    "pareto",
    "proportional_hazards",
    "replay",
    "segments",
    "serverless",
    "survival",
    "truncated_normal",
]


CHANGES: dict[str, Callable[..., Problem]] = {
    "changing": changing,
    "drifting": drifting,
    "outage": outage,
}


MAKERS: dict[str, Callable[..., Problem]] = {**FAMILIES, **REGRESSIONS, **CHANGES, **HARD}


def by_name(name: object) -> Callable[..., Problem]:
    """The family of FAMILIES or REGRESSIONS, the instance of HARD or the maker of CHANGES so named.

    >>> by_name("bernoulli")(arms=2, max_delay=10, seed=3)
    <Problem bernoulli(arms=2, max_delay=10, seed=3): 2 arms, max_delay 10>
    """
    if not isinstance(name, str) or name not in MAKERS:
        raise UnknownNameError.of("problem family", name, MAKERS)
    return MAKERS[name]
