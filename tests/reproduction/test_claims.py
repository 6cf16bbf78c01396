"""Claims: right for data that were made to hold, to fail, and to leave it open."""

import re

import numpy as np
import pytest

from tarry.experiments.curves import fit_slope
from tarry.experiments.joined import joined
from tarry.problems.problem import Payoff
from tarry.reproduction.claims import our_claims, paper_claims, scaling_claims
from tarry.reproduction.paper import JUDGED, OURS
from tarry.reproduction.scaling import Growth
from tarry.reproduction.story import counts, findings, marks
from tarry.reproduction.variation import variation_row
from tarry.reproduction.verdicts import FAILS, HOLDS, OPEN, line_of
from tests.experiments.small import result_from

RUNS = np.arange(8.0)
NORMAL = "truncated normal 0.2"


def made(
    policies: tuple[str, ...], means: dict[str, tuple[float, float]]
) -> dict[str, list[float]]:
    """Final regrets of policies, (mean, spread) where given, else (500, 1)."""
    return {
        policy: (mean + spread * (RUNS - 3.5)).tolist()
        for policy in policies
        for mean, spread in [means.get(policy, (500.0, 1.0))]
    }


def verdicts(payoff: Payoff, normal: dict[str, tuple[float, float]]) -> dict[tuple[str, str], str]:
    """The verdicts for given regrets on the truncated normal, Bernoulli all alike."""
    policies = JUDGED[payoff]
    result = result_from({NORMAL: made(policies, normal), "Bernoulli": made(policies, {})}, payoff)
    return {(claim.claim, claim.where): claim.verdict for claim in paper_claims({payoff: result})}


@pytest.mark.parametrize(
    ("mean", "spread", "expected"), [(100, 1, HOLDS), (900, 1, FAILS), (500, 90, OPEN)]
)
def test_outperforming_is_decided_by_paired_differences(
    mean: float, spread: float, expected: str
) -> None:
    """Less regret in all runs holds, more fails, sometimes more and sometimes less is open."""
    claim = ("Cost: BDSE outperforms OPSE.", NORMAL)
    assert verdicts("cost", {"BDSE": (mean, spread)})[claim] == expected


def test_harder_family_is_decided_for_each_policy_of_the_figure() -> None:
    """Where three policies are asked, each has its own verdict."""
    text = "Reward: regret is higher on Bernoulli than on truncated normal, {}."
    found = verdicts(
        "reward", {"BHSE": (100.0, 1.0), "OPSE": (900.0, 1.0), "CensoredUCB": (500.0, 1.0)}
    )
    told = [found[text.format(policy), NORMAL] for policy in ("BHSE", "OPSE", "CensoredUCB")]
    assert told == [HOLDS, FAILS, OPEN]


def test_smoothing_is_decided_by_the_spread() -> None:
    """Keeping history holds as smoothing when the runs are clearly closer together."""
    claim = "Cost: not throwing the history away at a doubling smooths this."
    kept = "BDSE(keep_history=True)"
    found = verdicts("cost", {"BDSE": (500, 50), kept: (500, 1)})
    assert found[claim, NORMAL] == HOLDS
    assert found[claim, "Bernoulli"] == OPEN
    assert verdicts("cost", {kept: (500, 50)})[claim, NORMAL] == FAILS


def test_ours_are_judged_and_told() -> None:
    """Policies of our own are compared with the paper's, and the findings say by how much."""
    judged = result_from({NORMAL: made(JUDGED["cost"], {})})
    field = result_from({NORMAL: made(OURS["cost"], {"SurvivalThompson": (50.0, 1.0)})})
    whole = joined(judged, field)
    assert whole.policies == (*JUDGED["cost"], *OURS["cost"])
    claims = our_claims({"cost": whole}, {"cost": judged})
    found = {claim.claim: claim.verdict for claim in claims}
    assert found["Cost: SurvivalThompson has less regret than BDSE."] == HOLDS
    assert found["Cost: SurvivalUCB has less regret than BDSE."] == OPEN
    assert "SurvivalThompson 10 to 10" in findings(claims, {"cost": whole})
    assert f"Of {len(claims)} verdicts" in counts(claims)
    assert set(marks(claims).values()) <= {"", " *"}


def test_ours_are_judged_by_as_many_runs_as_there_are() -> None:
    """A policy that has more runs than the field is judged by all of them."""
    kept = "BDSE(keep_history=True)"
    judged = result_from({NORMAL: made(JUDGED["cost"], {kept: (450.0, 1.0)})})
    few = judged.first(3)
    (claim,) = our_claims({"cost": few}, {"cost": judged})
    assert (claim.claim, claim.runs) == (f"Cost: {kept} has less regret than BDSE.", len(RUNS))


def test_verdicts_about_spreads_show_their_intervals() -> None:
    """Whatever a verdict is made from stands beside it, with its interval."""
    payoffs: tuple[Payoff, ...] = ("cost", "reward")
    results = {
        payoff: result_from(
            {NORMAL: made(JUDGED[payoff], {}), "Bernoulli": made(JUDGED[payoff], {})}, payoff
        )
        for payoff in payoffs
    }
    for claim in paper_claims(results):
        assert re.search(r"\(\S+ to \S+\)$", claim.measured), claim.measured


def test_stars_are_as_many_as_the_count_says() -> None:
    """What is decided and does not stay so has a star."""
    wobbly = {"BDSE": growth(1.0, 0.52, 1.0, spread=0.01), "SEPK": growth(0.46, 100, 0.5)}
    claims = scaling_claims({"cost-best-delay": wobbly})
    decided = [claim for claim in claims if claim.verdict != OPEN]
    stars = [mark for mark in marks(claims).values() if mark]
    assert f"Of the {len(decided)} that are decided, {len(decided) - len(stars)} stay" in counts(
        claims
    )


def growth(exponent: float, factor: float, law: float, spread: float = 0.0) -> Growth:
    """Regret that grows as a power, with intervals of so much to each side, as a share."""
    x = np.array([250.0, 500.0, 1000.0, 2000.0])
    y = factor * x**exponent
    low, high = (1 - spread) * y, (1 + spread) * y
    return Growth(x, y, low, high, fit_slope(x, y), y, law, line_of(x, y), 5)


@pytest.mark.parametrize(
    ("policy", "exponent", "law", "expected"),
    [("BDSE", 0.02, 0.0, HOLDS), ("BDSE", 0.4, 0.0, FAILS), ("SEPK", 0.46, 0.5, HOLDS)],
)
def test_growth_is_told_with_its_interval(
    policy: str, exponent: float, law: float, expected: str
) -> None:
    """A law of growth has a verdict and says the slope."""
    (claim,) = scaling_claims({"cost-max-delay": {policy: growth(exponent, 100, law)}})
    assert claim.verdict == expected
    assert f"slope in D: {exponent:.2f} (" in claim.measured
    assert claim.payoff == "cost"


@pytest.mark.parametrize(("factor", "expected"), [(0.6, HOLDS), (0.4, FAILS)])
def test_lower_bound_is_checked_for_every_policy(factor: float, expected: str) -> None:
    """A policy below half of d* contradicts the lower bound."""
    found = {"BDSE": growth(1.0, 5.0, 1.0), "Clever": growth(1.0, factor, 1.0)}
    claims = scaling_claims({"cost-best-delay": found})
    assert [claim.verdict for claim in claims] == [HOLDS, expected]


def test_lower_bound_holds_only_if_it_does_for_the_noisiest_policy() -> None:
    """One that is clearly above the bound does not speak for one that may be below."""
    steady, noisy = growth(1.0, 0.55, 1.0, spread=0.01), growth(1.0, 1.0, 1.0, spread=0.7)
    claims = scaling_claims({"cost-best-delay": {"Steady": steady, "Noisy": noisy}})
    assert [claim.verdict for claim in claims] == [OPEN]
    assert "the nearest is Noisy" in claims[0].measured
    (claim,) = scaling_claims({"cost-best-delay": {"Steady": steady}})
    assert claim.verdict == HOLDS
    assert claim.test.p < 0.05


def test_variation_is_taken_apart() -> None:
    """Known parts of variance are found again: 3 between instances, 1 within."""
    rng = np.random.default_rng(8)
    made_up = {
        f"instance {number}": {"P": (100 + 3 * rng.normal() + rng.normal(size=10)).tolist()}
        for number in range(200)
    }
    row = variation_row(result_from(made_up), "P")
    assert row.within == pytest.approx(1, rel=0.1)
    assert row.between == pytest.approx(3, rel=0.2)
    assert row.low < 0.9 < row.high
    alike = variation_row(result_from({"a": {"P": [1.0, 2.0]}, "b": {"P": [1.0, 2.0]}}), "P")
    assert (alike.between, alike.share, alike.low) == (0, 0, 0)
