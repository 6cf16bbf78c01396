"""Verdicts: right for data that were made to hold, to fail, and to leave it open."""

import numpy as np
import pytest

from tarry.experiments.curves import fit_slope
from tarry.reproduction.claims import (
    FAILS,
    HOLDS,
    OPEN,
    correlation_sign,
    paper_claims,
    scaling_claims,
    spread_sign,
    unpaired_difference,
)
from tarry.reproduction.paper import POLICIES
from tarry.reproduction.scaling import Growth
from tests.experiments.small import result_from

RUNS = np.arange(8.0)


def made(payoff: str, means: dict[str, tuple[float, float]]) -> dict[str, list[float]]:
    """Final regrets of all policies, (mean, spread) where given, else (500, 1)."""
    return {
        policy: (mean + spread * (RUNS - 3.5)).tolist()
        for policy in POLICIES[payoff]
        for mean, spread in [means.get(policy, (500.0, 1.0))]
    }


def verdicts(payoff: str, normal: dict[str, tuple[float, float]]) -> dict[tuple[str, str], str]:
    """The verdicts for given regrets on the truncated normal, Bernoulli all alike."""
    result = result_from(
        {
            "truncated normal 0.2": made(payoff, normal),
            "Bernoulli": made(payoff, {}),
        },
        payoff,
    )
    return {(claim.claim, claim.where): claim.verdict for claim in paper_claims({payoff: result})}


@pytest.mark.parametrize(
    ("mean", "spread", "expected"), [(100, 1, HOLDS), (900, 1, FAILS), (500, 90, OPEN)]
)
def test_outperforming_is_decided_by_paired_differences(
    mean: float, spread: float, expected: str
) -> None:
    """Less regret in all runs holds, more fails, sometimes more and sometimes less is open."""
    claim = ("Cost: BDSE outperforms OPSE.", "truncated normal 0.2")
    assert verdicts("cost", {"BDSE": (mean, spread)})[claim] == expected


def test_harder_family_is_decided_for_all_policies_of_the_figure() -> None:
    """The claim fails as soon as one of the paper's policies has the opposite."""
    claim = ("Reward: regret is higher on Bernoulli than on truncated normal.",)
    where = "truncated normal 0.2"
    lower = dict.fromkeys(("BHSE", "OPSE", "CensoredUCB"), (100.0, 1.0))
    assert verdicts("reward", lower)[(*claim, where)] == HOLDS
    assert verdicts("reward", {**lower, "OPSE": (900.0, 1.0)})[(*claim, where)] == FAILS
    assert verdicts("reward", {**lower, "OPSE": (500.0, 1.0)})[(*claim, where)] == OPEN


def test_smoothing_is_decided_by_the_spread() -> None:
    """Keeping history holds as smoothing when the standard deviation is clearly smaller."""
    claim = ("Cost: not throwing the history away at a doubling smooths this.",)
    where = "truncated normal 0.2"
    kept = "BDSE(keep_history=True)"
    found = verdicts("cost", {"BDSE": (500, 50), kept: (500, 1)})
    assert found[(*claim, where)] == HOLDS
    assert found[(*claim, "Bernoulli")] == OPEN
    assert verdicts("cost", {kept: (500, 50)})[(*claim, where)] == FAILS


def test_tests_have_the_right_size() -> None:
    """For samples without any difference each test errs in about 5 % of the cases."""
    rng = np.random.default_rng(2)
    trials = 2000
    draws = rng.normal(size=(trials, 2, 10))
    for sign in (
        [unpaired_difference(*pair).sign for pair in draws],
        [spread_sign(*pair) for pair in draws],
        [correlation_sign(*pair) for pair in draws],
    ):
        share = np.mean(np.array(sign) != 0)
        assert abs(share - 0.05) < 4 * np.sqrt(0.05 * 0.95 / trials)
    assert correlation_sign(np.ones(5), np.arange(5.0)) == 0


def growth(exponent: float, factor: float, law: float) -> Growth:
    """Regret that grows as a power."""
    x = np.array([250.0, 500.0, 1000.0, 2000.0])
    y = factor * x**exponent
    return Growth(x, y, y, y, fit_slope(x, y), y, law)


@pytest.mark.parametrize(
    ("policy", "exponent", "law", "expected"),
    [
        ("BDSE", 0.02, 0.0, HOLDS),
        ("BDSE", -0.5, 0.0, HOLDS),
        ("BDSE", 0.4, 0.0, FAILS),
        ("SEPK", 0.46, 0.5, HOLDS),
        ("SEPK", 0.1, 0.5, FAILS),
    ],
)
def test_growth_is_measured_against_the_law(
    policy: str, exponent: float, law: float, expected: str
) -> None:
    """Upper bounds hold below the law; laws of growth hold near it."""
    claims = scaling_claims({"cost-max-delay": {policy: growth(exponent, 100, law)}})
    assert [claim.verdict for claim in claims] == [expected]


@pytest.mark.parametrize(("factor", "expected"), [(0.6, HOLDS), (0.4, FAILS)])
def test_lower_bound_is_checked_for_every_policy(factor: float, expected: str) -> None:
    """A policy below half of d* contradicts the lower bound."""
    found = {"BDSE": growth(1.0, 5.0, 1.0), "Clever": growth(1.0, factor, 1.0)}
    claims = scaling_claims({"cost-best-delay": found})
    assert [claim.verdict for claim in claims] == [HOLDS, expected]
