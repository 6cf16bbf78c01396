"""Decision rules, one per file; `POLICIES` is the registry that everything enumerates."""

from typing import Any

from tarry.errors import UnknownNameError
from tarry.policies.adversarial.accrual_ftrl import AccrualFTRL
from tarry.policies.adversarial.delayed_ftrl import DelayedFTRL
from tarry.policies.baselines.delayed_thompson import DelayedThompson
from tarry.policies.baselines.qpmd import QPMD
from tarry.policies.baselines.uniform import Uniform
from tarry.policies.change.cusum_ucb import CUSUMUCB
from tarry.policies.change.discounted_thompson import DiscountedThompson
from tarry.policies.change.fading_thompson import FadingThompson
from tarry.policies.change.regime_thompson import RegimeThompson
from tarry.policies.change.window_thompson import WindowThompson
from tarry.policies.contexts.lin_ucb import LinUCB
from tarry.policies.contexts.linear_thompson import LinearThompson
from tarry.policies.contexts.segment_thompson import SegmentThompson
from tarry.policies.contexts.survival_regression import SurvivalRegression
from tarry.policies.elimination.bdse import BDSE
from tarry.policies.elimination.bhse import BHSE
from tarry.policies.elimination.cse import CSE
from tarry.policies.elimination.opse import OPSE
from tarry.policies.elimination.rse import RSE
from tarry.policies.elimination.se import SE
from tarry.policies.elimination.sepk import SEPK
from tarry.policies.index.bayes_ucb import BayesUCB
from tarry.policies.index.censored_ucb import CensoredUCB
from tarry.policies.index.delayed_ucb import DelayedUCB
from tarry.policies.index.imed import IMED
from tarry.policies.index.increment_ucb import IncrementUCB
from tarry.policies.index.kl_ucb import KLUCB
from tarry.policies.index.moss import MOSS
from tarry.policies.protocol import STOP, Policy, Rule, Setting
from tarry.policies.survival.thompson import SurvivalThompson
from tarry.policies.survival.ucb import SurvivalUCB

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
        KLUCB,
        MOSS,
        IMED,
        BayesUCB,
        QPMD,
        DelayedThompson,
        SurvivalThompson,
        SurvivalUCB,
        IncrementUCB,
        RegimeThompson,
        DiscountedThompson,
        WindowThompson,
        FadingThompson,
        CUSUMUCB,
        SurvivalRegression,
        LinearThompson,
        SegmentThompson,
        LinUCB,
        DelayedFTRL,
        AccrualFTRL,
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
    "CUSUMUCB",
    "IMED",
    "KLUCB",
    "MOSS",
    "OPSE",
    "POLICIES",
    "QPMD",
    "RSE",
    "SE",
    "SEPK",
    "STOP",
    "AccrualFTRL",
    "BayesUCB",
    "CensoredUCB",
    "DelayedFTRL",
    "DelayedThompson",
    "DelayedUCB",
    "DiscountedThompson",
    "FadingThompson",
    "IncrementUCB",
    "LinUCB",
    "LinearThompson",
    "Policy",
    "RegimeThompson",
    "Rule",
    "SegmentThompson",
    "Setting",
    "SurvivalRegression",
    "SurvivalThompson",
    "SurvivalUCB",
    "Uniform",
    "WindowThompson",
    "by_name",
]
