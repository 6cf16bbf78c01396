"""Decision rules, one per file; `POLICIES` is the registry that everything enumerates."""

from typing import Any

from tarry.errors import UnknownNameError
from tarry.policies.bdse import BDSE
from tarry.policies.bhse import BHSE
from tarry.policies.censored_ucb import CensoredUCB
from tarry.policies.cse import CSE
from tarry.policies.delayed_thompson import DelayedThompson
from tarry.policies.delayed_ucb import DelayedUCB
from tarry.policies.opse import OPSE
from tarry.policies.protocol import STOP, Policy, Rule, Setting
from tarry.policies.rse import RSE
from tarry.policies.se import SE
from tarry.policies.sepk import SEPK
from tarry.policies.survival_thompson import SurvivalThompson
from tarry.policies.survival_ucb import SurvivalUCB
from tarry.policies.uniform import Uniform

POLICIES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        CSE,
        BDSE,
        RSE,
        BHSE,
        SEPK,
        SE,
        OPSE,
        CensoredUCB,
        DelayedUCB,
        DelayedThompson,
        SurvivalThompson,
        SurvivalUCB,
        Uniform,
    )
}


def by_name(name: str) -> type[Any]:
    """The policy class of this name; letter case does not matter."""
    for known, cls in POLICIES.items():
        if known.lower() == str(name).lower():
            return cls
    raise UnknownNameError.of("policy", name, POLICIES)


__all__ = [
    "BDSE",
    "BHSE",
    "CSE",
    "OPSE",
    "POLICIES",
    "RSE",
    "SE",
    "SEPK",
    "STOP",
    "CensoredUCB",
    "DelayedThompson",
    "DelayedUCB",
    "Policy",
    "Rule",
    "Setting",
    "SurvivalThompson",
    "SurvivalUCB",
    "Uniform",
    "by_name",
]
