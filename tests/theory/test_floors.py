"""Lower bounds and the delay floor, against policies that play on the instances."""

import math

import numpy as np
import pytest

import tarry
from tarry.policies import Policy
from tarry.problems import Law
from tarry.theory import (
    LowerBound,
    delay_floor,
    lower_close,
    lower_conservative,
    lower_cost,
    lower_reward,
)
from tarry.theory.blind import agreement

BOUNDS = [
    lower_cost(50, 400),
    lower_reward(50, 400),
    lower_reward(50, 400, arms=4),
    lower_close(40, 400),
    lower_close(40, 400, "reward"),
    lower_conservative(20, 400),
    lower_conservative(20, 400, "reward"),
]


def regret(policy: Policy, bound: LowerBound) -> list[float]:
    """The mean regret on either instance after the blind steps, over a few seeds."""
    return [
        float(
            np.mean(
                [
                    tarry.play(
                        policy, problem, payoff=bound.payoff, horizon=bound.blind, seed=seed
                    ).regret[-1]
                    for seed in range(5)
                ]
            )
        )
        for problem in bound.instances
    ]


@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: bound.instances[0].label)
def test_no_policy_beats_the_lower_bound(bound: LowerBound) -> None:
    """Average and worst regret on the pair are at least the bound, within rounding of a sweep."""
    policies: list[Policy] = [tarry.SEPK(), tarry.OPSE()]
    if bound.applies_to == "any algorithm":
        policies += [tarry.BDSE() if bound.payoff == "cost" else tarry.BHSE()]
        policies += [tarry.DelayedThompson(), tarry.Uniform()]
    for policy in policies:
        paid = regret(policy, bound)
        slack = 1.0 + 3 * math.sqrt(bound.blind / 4 / 5) * isinstance(
            policy, tarry.DelayedThompson | tarry.Uniform
        )
        assert np.mean(paid) >= bound.average - slack
        assert max(paid) >= bound.worst - slack


def test_blind_steps_are_blind() -> None:
    """On both instances of a pair a policy makes the same plays in the blind steps, then not."""
    for bound in (lower_close(40, 400), lower_conservative(20, 400)):
        runs = [
            tarry.play(tarry.BDSE(), problem, payoff="cost", horizon=bound.blind, seed=4)
            for problem in bound.instances
        ]
        assert np.array_equal(runs[0].arms, runs[1].arms)
        first, second = (law.laws[0] for law in bound.instances)
        assert agreement(first, second) + 1 == bound.blind


def test_constants_of_the_cost_theorem() -> None:
    """Average (1 - d*/D)(d* + 1)/2: above the appendix's d*/4, below the main text's d*/2."""
    bound = lower_cost(100, 400)
    assert bound.average == pytest.approx(0.75 * 101 / 2)
    assert 100 / 4 < bound.average < bound.printed


def test_close_pair_has_the_gaps_of_the_paper() -> None:
    """mu/4 and mu/2, with D/4 + 1 blind steps."""
    bound = lower_close(40, 400)
    mu = 2 * 40 / 400
    gaps = [problem.gaps("cost").max() for problem in bound.instances]
    assert gaps == pytest.approx([mu / 4, mu / 2])
    assert bound.blind == 101
    assert bound.average == pytest.approx(mu / 8 * 101)
    assert bound.worst == pytest.approx(mu / 6 * 101)


def test_agreement_of_laws() -> None:
    """The first delay on which two laws differ, or one past the last if they never do."""
    law = Law([0, 3, 9], [0.5, 0.25, 0.25])
    assert agreement(law, Law([0, 3, 7], [0.5, 0.25, 0.25])) == 7
    assert agreement(law, Law([0, 3, 9], [0.5, 0.375, 0.125])) == 3
    assert agreement(law, law) == 10


def test_delay_floor_on_fixed_delays() -> None:
    """On fixed delays the floor is the paper's lower bound with exact constants."""
    cost = tarry.problems.hard_cost(50, 400)
    reward = tarry.problems.hard_reward(50, 400, arms=5)
    assert delay_floor(cost, "cost", 10**6) == pytest.approx(lower_cost(50, 400).average)
    assert delay_floor(reward, "reward", 10**6) == pytest.approx(lower_reward(50, 400).average)
    assert delay_floor(cost, "cost", 10) == pytest.approx(10 * 0.875 / 2)


def test_delay_floor_takes_all_arms_that_look_alike() -> None:
    """With d* and many arms at D, all are alike until d*, and the floor is their mean gap."""
    problem = tarry.problems.deterministic([50, 400, 400, 400], max_delay=400)
    assert delay_floor(problem, "cost", 1000) == pytest.approx(51 * 0.875 * 3 / 4)


def test_delay_floor_without_anything_to_lose() -> None:
    """One arm or equal arms owe nothing; arms that differ at once owe the first step."""
    assert delay_floor(tarry.problems.deterministic([5], max_delay=9), "cost", 50) == 0
    assert delay_floor(tarry.problems.deterministic([5, 5], max_delay=9), "cost", 50) == 0
    problem = tarry.problems.bernoulli(max_delay=9, probabilities=[0.5, 0.25])
    assert delay_floor(problem, "cost", 50) == pytest.approx(0.25 / 2)


def test_delay_floor_holds_for_policies_with_labels_by_lot() -> None:
    """Averaged over both orders of the arms, no policy is below the floor."""
    policies: list[Policy] = [tarry.BDSE(keep_history=True), tarry.SEPK(), tarry.SurvivalThompson()]
    for policy in policies:
        runs = [
            tarry.play(
                policy,
                tarry.problems.hard_cost(200, 4000, flipped=flipped),
                payoff="cost",
                horizon=500,
                seed=seed,
            ).regret[-1]
            for flipped in (False, True)
            for seed in range(10)
        ]
        error = np.std(runs) / math.sqrt(len(runs))
        floor = delay_floor(tarry.problems.hard_cost(200, 4000), "cost", 500)
        assert np.mean(runs) >= floor - 3 * error - 1
