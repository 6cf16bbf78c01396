"""Upper bounds: their formulas, their edges, and the regret that they bound."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarry
from tarry.errors import InputError, PayoffError, UnknownNameError
from tarry.policies import Policy
from tarry.problems import Problem
from tarry.problems.problem import Payoff
from tarry.theory import BOUNDS, table_one, trivial_bound, upper_bound
from tarry.theory.quantities import harmonic

TWO = tarry.problems.deterministic([100, 400], max_delay=400)  # means 1/4 and 1, gap 3/4
T = 10_000
LOG = math.log(T)
RUNNABLE: list[tuple[Policy, Payoff]] = [
    (tarry.CSE(0.5), "cost"),
    (tarry.CSE(0.002), "cost"),
    (tarry.BDSE(), "cost"),
    (tarry.RSE(0.6), "reward"),
    (tarry.BHSE(), "reward"),
    (tarry.SEPK(), "cost"),
    (tarry.SEPK(), "reward"),
    (tarry.OPSE(), "cost"),
    (tarry.OPSE("KT"), "reward"),
    (tarry.CensoredUCB(), "reward"),
    (tarry.CensoredUCB("experiments"), "cost"),
]


def test_cse_as_the_paper_prints_it() -> None:
    """The main text takes D twice, the appendix once."""
    first = 129 * LOG / 0.75
    main = upper_bound("CSE", TWO, T, threshold=0.5, form="printed")
    appendix = upper_bound("CSE", TWO, T, threshold=0.9, form="appendix")
    assert main == pytest.approx(first + 8 * 400 * 0.5 * math.log(2))
    assert appendix == pytest.approx(first + 8 * 400 * 0.75 * math.log(2))


def test_bdse_as_the_paper_prints_it() -> None:
    """The corollary on BDSE with natural logarithms."""
    logs = math.log(100)
    expected = 129 * LOG * logs / 0.75 + 8 * min(100, 300 * logs) * math.log(2)
    assert upper_bound("BDSE", TWO, T, form="printed") == pytest.approx(expected)


def test_rse_and_bhse_as_the_paper_prints_them() -> None:
    """The theorem on RSE, and the corollary with its factor log(1 / mu*)."""
    problem = tarry.problems.deterministic([100, 200], max_delay=400)
    one = 289 * LOG / 0.25 + 12 * min(100, 100) * math.log(2)
    assert upper_bound(tarry.RSE(0.5), problem, T, form="printed") == pytest.approx(one)
    assert upper_bound("BHSE", problem, T, form="printed") == pytest.approx(one * math.log(2))


def test_sepk_as_the_paper_prints_it() -> None:
    """The theorem on SE-PK, with d_bar for d* in reward."""
    first = 129 * LOG / 0.75
    expected = first + 8 * math.sqrt(2 * 400 * 100) * math.log(2)
    assert upper_bound("SEPK", TWO, T, payoff="cost", form="printed") == pytest.approx(expected)
    assert upper_bound("SEPK", TWO, T, payoff="reward", form="printed") == pytest.approx(expected)


def test_prints_that_are_no_bounds() -> None:
    """At d* <= 1 the print for BDSE is 0 or less, at mu* = 1 that for BHSE is 0; safe is not."""
    one = tarry.problems.deterministic([1, 400], max_delay=400)
    none = tarry.problems.deterministic([0, 400], max_delay=400)
    assert upper_bound("BDSE", one, T, form="printed") == 0
    assert upper_bound("BDSE", none, T, form="printed") == -math.inf
    assert upper_bound("BHSE", one, T, form="printed") == 0
    for problem in (one, none):
        assert upper_bound("BDSE", problem, T) > 128 * LOG
        assert upper_bound("BHSE", problem, T) > 288 * LOG


def test_sepk_exceeds_its_printed_bound() -> None:
    """With d* = 0 and D = 100 000, SE-PK loses twice what the paper's theorem allows."""
    problem = tarry.problems.deterministic([0, 100_000], max_delay=100_000)
    run = tarry.play(tarry.SEPK(), problem, payoff="cost", horizon=150_000, record=1)
    printed = upper_bound("SEPK", problem, 150_000, payoff="cost", form="printed")
    assert run.regret[-1] > 2 * printed
    assert run.regret[-1] < upper_bound("SEPK", problem, 150_000, payoff="cost")


def test_phases_are_counted_in_powers_of_two() -> None:
    """The safe bound of BDSE steps up with each doubling that is needed, not in between."""
    bounds = []
    for best in (2, 3, 4, 5):
        problem = tarry.problems.from_pmf([([best], [1.0]), ([1000 + best], [1.0])], 2000)
        bounds.append(upper_bound("BDSE", problem, T))
    assert bounds[1] == pytest.approx(bounds[2])
    assert bounds[0] < bounds[1] < bounds[3]


def test_harmonic_numbers_replace_the_logarithm() -> None:
    """When the best arm may be lost, the delay term counts H_(K-1) instead of log K."""
    lost = upper_bound("CSE", TWO, T, threshold=0.1)
    kept = upper_bound("CSE", TWO, T, threshold=0.25)
    per_share = 8 * 400
    assert harmonic(1) == 1
    assert lost - kept == pytest.approx(per_share * (0.1 * 1.0 - 0.25 * 0.5))


@pytest.mark.parametrize("name", BOUNDS)
def test_nothing_to_lose_is_bounded_by_nothing(name: str) -> None:
    """With one arm or equal arms every form of every bound is 0."""
    alone = tarry.problems.deterministic([5], max_delay=10)
    equal = tarry.problems.deterministic([0, 0], max_delay=10)
    for problem in (alone, equal):
        for form in ("printed", "appendix", "safe"):
            payoff: Payoff = "cost" if "cost" in BOUNDS[name] else "reward"
            bound = upper_bound(name, problem, 50, payoff=payoff, form=form, threshold=0.5)
            assert bound == 0


@given(st.lists(st.integers(0, 60), min_size=2, max_size=6), st.integers(2, 10**7))
def test_safe_bounds_are_positive_and_grow_with_the_horizon(
    delays: list[int], horizon: int
) -> None:
    """Where there is a gap, safe bounds are positive, finite, and larger for a longer horizon."""
    problem = tarry.problems.deterministic(delays, max_delay=60)
    if len(set(delays)) == 1:
        return
    for policy, payoff in RUNNABLE:
        threshold = 1.0 if isinstance(policy, tarry.RSE) else None
        who = "RSE" if threshold else policy
        steps = (horizon + 10, 10 * horizon + 100, 100 * horizon + 1000)
        bounds = [
            upper_bound(who, problem, step, payoff=payoff, threshold=threshold) for step in steps
        ]
        assert all(0 < low < high < math.inf for low, high in pairwise(bounds))


def worlds() -> list[Problem]:
    """Small problems of several kinds."""
    return [
        tarry.problems.deterministic([0, 1], max_delay=1),
        tarry.problems.deterministic([1, 400], max_delay=400),
        tarry.problems.deterministic([130, 260, 400], max_delay=400),
        tarry.problems.bernoulli(4, 100, seed=5),
        tarry.problems.truncated_normal(5, 300, seed=8),
        tarry.problems.bernoulli(40, 20, seed=6),  # more arms than D
    ]


@pytest.mark.parametrize("problem", worlds(), ids=lambda problem: problem.label[:40])
def test_regret_stays_below_the_safe_bound(problem: Problem) -> None:
    """The mean regret of every policy is at most its safe bound, at short and long horizons."""
    for policy, payoff in RUNNABLE:
        if isinstance(policy, tarry.RSE) and problem.means.max() / 2 > policy.threshold:
            continue
        for horizon in (3, 40, 5000):
            runs = [
                tarry.play(policy, problem, payoff=payoff, horizon=horizon, seed=seed, record=1)
                for seed in range(3)
            ]
            regret = np.mean([run.regret[-1] if len(run.regret) else 0.0 for run in runs])
            assert regret <= upper_bound(policy, problem, horizon, payoff=payoff)
            assert regret <= trivial_bound(problem, payoff, horizon) + 1e-9


def test_table_one_has_the_paper_rows() -> None:
    """Cost has two rows, reward three, with the additive terms of the table."""
    problem = tarry.problems.deterministic([100, 400, 300], max_delay=400)
    cost = table_one(problem, "cost", T)
    reward = table_one(problem, "reward", T)
    logs = LOG * (1 / 0.75 + 1 / 0.5)
    assert cost == pytest.approx({"Lancewicki et al.": logs + 400, "this paper": logs + 100})
    logs = LOG * (1 / 0.75 + 1 / 0.25)
    assert reward == pytest.approx(
        {
            "Lancewicki et al.": logs + 400,
            "Tang et al.": logs + 400 * (0.75 + 0.25),
            "this paper": logs + 300,
        }
    )


def test_rows_of_others_are_their_printed_bounds() -> None:
    """What is printed for OPSE and CensoredUCB is their row of Table 1."""
    rows = table_one(TWO, "reward", T)
    assert upper_bound("OPSE", TWO, T, payoff="reward", form="printed") == pytest.approx(
        rows["Lancewicki et al."]
    )
    assert upper_bound("CensoredUCB", TWO, T, payoff="reward", form="printed") == pytest.approx(
        rows["Tang et al."]
    )


def test_bad_questions_are_refused() -> None:
    """Unknown policies, forms and payoffs, and missing thresholds are named in the message."""
    with pytest.raises(UnknownNameError, match="BDSE"):
        upper_bound("BDS", TWO, T)
    with pytest.raises(InputError, match="'tight'"):
        upper_bound("BDSE", TWO, T, form="tight")
    with pytest.raises(PayoffError, match="cost and reward"):
        upper_bound("SEPK", TWO, T)
    with pytest.raises(PayoffError, match="cost only"):
        upper_bound("BDSE", TWO, T, payoff="reward")
    with pytest.raises(InputError, match="threshold"):
        upper_bound("CSE", TWO, T)
    with pytest.raises(InputError, match="half of the best mean"):
        upper_bound("RSE", TWO, T, threshold=0.3)
    with pytest.raises(InputError, match="no proven bound"):
        upper_bound(tarry.BDSE(keep_history=True), TWO, T)
