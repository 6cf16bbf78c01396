"""What an agent is made with, checked at the border."""

import math
from pathlib import Path
from typing import Any

from tarry.checks import check_payoff, check_whole
from tarry.errors import InputError, JournalError
from tarry.live.clock import to_ticks
from tarry.policies.check import check_policy
from tarry.policies.label import policy_label
from tarry.policies.protocol import Policy


def default_policy() -> Policy:
    """What decides if nothing is said."""
    from tarry.policies import by_name

    policy: Policy = by_name("SurvivalThompson")()
    return policy


def check_max_delay(seconds: Any) -> int:
    """D in ticks."""
    try:
        ticks = 0 if isinstance(seconds, str) else to_ticks(float(seconds))
    except (TypeError, ValueError, OverflowError):
        ticks = 0
    if ticks < 1 or ticks > 2**53:
        raise InputError(
            f"max_delay is {seconds!r}; give a number of seconds from 0.000001 to 9000000000."
        )
    return ticks


def check_delay(seconds: Any) -> int | None:
    """A delay in ticks, if one is given."""
    if seconds is None:
        return None
    try:
        number = math.nan if isinstance(seconds, str) else float(seconds)
    except (TypeError, ValueError):
        number = math.nan
    if not 0.0 <= number <= 2**53:
        raise InputError(f"The delay is {seconds!r}; give a number of seconds, 0 or more.")
    return to_ticks(number)


def check_horizon(policy: Any, payoff: str, horizon: int | None) -> int:
    """The horizon, 0 if unknown, for a policy that serves the payoff."""
    check_payoff(payoff)
    check_policy(policy, payoff)
    if horizon is not None:
        return check_whole("horizon", horizon, 2, 2**62)
    if getattr(policy, "needs_horizon", False):
        raise InputError(
            f"{policy_label(policy)} needs a horizon; give horizon=, the number of plays expected "
            f"in all, or use a policy that needs none, such as SurvivalThompson."
        )
    return 0


def check_names(arms: Any) -> list[str]:
    """Names of arms, at least one, all different."""
    if isinstance(arms, str):
        raise InputError(f"arms is {arms!r}; give a list of names.")
    names = list(arms)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise InputError(f"arms is {arms!r}; give at least one name, all of them non-empty text.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"The arm {twice!r} is named twice; each arm needs a name of its own.")
    return names


def check_same(path: Path, settings: dict[str, Any], given: dict[str, Any], seed: Any) -> None:
    """Refuse to go on with other settings than those of the journal."""
    wanted = given if seed is None else given | {"seed": seed}
    for key, value in wanted.items():
        if settings[key] != value:
            raise JournalError(
                f"The journal {path} was made with {key} {settings[key]!r}, but {value!r} is "
                f"given; give the same, or another path."
            )
