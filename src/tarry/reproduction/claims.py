"""The claims of the paper, and ours, each with what was measured and the test that judges it.

Differences between policies are paired by run: they met the same instances and delays.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from tarry.arrays import FloatArray
from tarry.experiments.curves import span, student
from tarry.experiments.result import Result
from tarry.problems.problem import Payoff
from tarry.reproduction.paper import BERNOULLI, OURS, PAPERS, normal_problems
from tarry.reproduction.scaling import Growth, ScalingExperiment, delay_floors, scaling_experiments
from tarry.reproduction.verdicts import (
    FAILS,
    Outcome,
    correlated,
    deviations,
    growth_test,
    less,
    less_in_pairs,
    t_test,
)
from tarry.tables import number


class Claim(NamedTuple):
    """One verdict of the report."""

    chapter: str  # under which anchor of the report it is told
    claim: str
    payoff: str
    where: str  # on which problem
    measured: str
    runs: int
    test: Outcome

    @property
    def verdict(self) -> str:
        """In words."""
        return self.test.verdict


def last(result: Result, policy: str, problem: str) -> FloatArray:
    """The regrets at the horizon, one for each run."""
    return result.regret(policy, problem)[:, -1]


def outperforms(
    result: Result, better: str, worse: str, chapter: str, claim: str = ""
) -> Iterator[Claim]:
    """That one policy has less regret than another, on each problem."""
    for problem in result.problems:
        one, other = last(result, better, problem), last(result, worse, problem)
        test = less_in_pairs(one, other)
        yield Claim(
            chapter,
            claim or f"{result.payoff.capitalize()}: {better} outperforms {worse}.",
            result.payoff,
            problem,
            f"{better} {number(one.mean())}, {worse} {number(other.mean())}; "
            f"difference {estimate(test)}",
            result.runs,
            test,
        )


DISTANCES = "mean distances from the median run differ by"


def estimate(test: Outcome) -> str:
    """An estimate with its 95 % interval."""
    return f"{number(test.estimate)} ({span(test.low, test.high)})"


def bernoulli_is_harder(result: Result) -> Iterator[Claim]:
    """That Bernoulli delays give more regret and vary more, for each policy of the figure."""
    for policy in PAPERS[result.payoff]:
        ours = last(result, policy, BERNOULLI)
        for problem in normal_problems(result):
            theirs = last(result, policy, problem)
            test = less(theirs, ours)
            yield Claim(
                "bernoulli",
                f"{result.payoff.capitalize()}: regret is higher on Bernoulli than on truncated "
                f"normal, {policy}.",
                result.payoff,
                problem,
                f"{number(ours.mean())} on Bernoulli, {number(theirs.mean())} here; difference "
                f"{estimate(test.flipped())}",
                result.runs,
                test,
            )
        for problem in normal_problems(result):
            theirs = last(result, policy, problem)
            test = less(deviations(theirs), deviations(ours))
            yield Claim(
                "bernoulli",
                f"{result.payoff.capitalize()}: the standard deviation is larger on Bernoulli than "
                f"on truncated normal, {policy}.",
                result.payoff,
                problem,
                f"{number(ours.std(ddof=1))} on Bernoulli, {number(theirs.std(ddof=1))} here; "
                f"{DISTANCES} {estimate(test.flipped())}",
                result.runs,
                test,
            )


def doubling_varies(result: Result) -> Iterator[Claim]:
    """That BDSE varies much on Bernoulli, through the number of restarts, and history helps."""
    literal, kept = "BDSE", "BDSE(keep_history=True)"
    mine = last(result, literal, BERNOULLI)
    base = last(result, "OPSE", BERNOULLI)
    test = less_in_pairs(deviations(base), deviations(mine))
    yield Claim(
        "doubling",
        "Cost: BDSE has a high standard deviation on Bernoulli delays.",
        "cost",
        BERNOULLI,
        f"BDSE {number(mine.std(ddof=1))}, OPSE {number(base.std(ddof=1))}; {DISTANCES} "
        f"{estimate(test.flipped())}",
        result.runs,
        test,
    )
    restarts = result.restarts(literal, BERNOULLI)
    test = correlated(restarts, mine)
    r = test.flipped()
    yield Claim(
        "doubling",
        "Cost: this is because the number of doubling calls differs between runs.",
        "cost",
        BERNOULLI,
        f"{restarts.min()} to {restarts.max()} restarts; correlation with the regret "
        f"{r.estimate:.2f} ({r.low:.2f} to {r.high:.2f})",
        result.runs,
        test,
    )
    for problem in result.problems:
        one, other = last(result, kept, problem), last(result, literal, problem)
        test = less_in_pairs(deviations(one), deviations(other))
        yield Claim(
            "doubling",
            "Cost: not throwing the history away at a doubling smooths this.",
            "cost",
            problem,
            f"standard deviation {number(one.std(ddof=1))} with history, "
            f"{number(other.std(ddof=1))} without; {DISTANCES} {estimate(test)}",
            result.runs,
            test,
        )


def paper_claims(results: Mapping[Payoff, Result]) -> list[Claim]:
    """Every claim of the paper's experiments, for the payoffs that were run."""
    found: list[Claim] = []
    reward, cost = results.get("reward"), results.get("cost")
    if reward is not None:
        for worse in ("OPSE", "CensoredUCB"):
            found += outperforms(reward, "BHSE", worse, "reward")
    if cost is not None:
        found += outperforms(cost, "BDSE", "OPSE", "cost")
    if reward is not None:
        found += bernoulli_is_harder(reward)
    if cost is not None:
        found += doubling_varies(cost)
    return found


def our_claims(whole: Mapping[Payoff, Result], judged: Mapping[Payoff, Result]) -> list[Claim]:
    """What we recommend against the paper's policy, by as many runs as there are.

    `whole` has all policies, by payoff; `judged` has more runs of some.
    """
    found: list[Claim] = []
    for payoff, result in whole.items():
        paper = PAPERS[payoff][0]
        for policy in (f"{paper}(keep_history=True)", *OURS[payoff]):
            more = judged.get(payoff, result)
            most = more if policy in more.policies else result
            if policy in most.policies:
                title = f"{payoff.capitalize()}: {policy} has less regret than {paper}."
                found += outperforms(most, policy, paper, "ours", title)
    return found


LAWS = {
    ("cost-max-delay", "BDSE"): "Table 1, cost: the regret of BDSE does not grow with D.",
    ("cost-max-delay", "BDSE(keep_history=True)"): "The same for BDSE with its history kept.",
    ("cost-max-delay", "SEPK"): "Conservative elimination in cost pays sqrt(D d*): SE-PK.",
    ("cost-max-delay", "OPSE"): "Table 1, cost: OPSE, which does not read ages, pays D.",
    ("reward-max-delay", "BHSE"): "Table 1, reward: the regret of BHSE does not grow with D.",
    ("reward-max-delay", "SEPK"): "Conservative elimination in reward pays sqrt(D d), with d the "
    "second delay: SE-PK.",
    ("reward-max-delay", "OPSE"): "Table 1, reward: OPSE pays D.",
    ("reward-max-delay", "CensoredUCB"): "Table 1, reward: CensoredUCB pays D times the gaps.",
    ("cost-best-delay", "BDSE"): "Corollary, cost: BDSE pays at most d* up to log terms.",
    ("reward-second-delay", "BHSE"): "Corollary, reward: BHSE pays at most the second delay.",
    ("cost-arms", "BDSE"): "Corollary, cost: BDSE pays at most K up to log terms.",
    ("cost-horizon", "BDSE"): "Corollary, cost: BDSE pays at most log T.",
}
SCALING = scaling_experiments()
EXACT = ("SEPK", "OPSE", "CensoredUCB")  # of these the law says how fast it grows, not at most


def scaling_claims(found: Mapping[str, Mapping[str, Growth]]) -> list[Claim]:
    """What the paper's Table 1, its corollaries and lower bounds say about growth."""
    claims = [
        growth_claim(text, name, policy, growth)
        for (name, policy), text in LAWS.items()
        for growth in [found.get(name, {}).get(policy)]
        if growth is not None and growth.law is not None
    ]
    bounded = [name for name, known in SCALING.items() if known.lower_bound and name in found]
    return [*claims, *(lower_bound_claim(name, SCALING[name], found[name]) for name in bounded)]


def growth_claim(text: str, name: str, policy: str, growth: Growth) -> Claim:
    """One law of growth: the slope with its interval, and whether the points lie on a line."""
    known, line, law = SCALING[name], growth.fit, growth.law or 0.0
    exactly = policy in EXACT
    of = f"log {known.symbol}" if known.against_log else known.symbol
    bent = (
        ""
        if line.is_straight
        else f", but no line: {line.first:.2f} at first, then {line.last:.2f}"
    )
    return Claim(
        f"scaling-{name}",
        text,
        known.payoff,
        known.title,
        f"log-log slope in {of}: {line.slope:.2f} ({line.low:.2f} to {line.high:.2f}){bent}; "
        f"{'' if exactly else 'at most '}{law:g} is claimed; regret {number(growth.mean[0])} to "
        f"{number(growth.mean[-1])}",
        growth.runs,
        growth_test(line, law, exactly=exactly),
    )


def lower_bound_claim(name: str, known: ScalingExperiment, found: Mapping[str, Growth]) -> Claim:
    """That no policy pays less than the lower bound, at any value.

    It holds where every policy is clearly above it at every value, so the one whose interval
    reaches lowest speaks for all; it fails where one is clearly below it.
    """
    tests = []
    for policy, growth in found.items():
        bound = delay_floors(known, growth.x)
        for floor, mean, low, high in zip(bound, growth.mean, growth.low, growth.high, strict=True):
            half = 0.0 if np.isnan(low) else (high - low) / 2
            error = half / float(student(growth.runs - 1)) / floor if half > 0 else 0.0
            tests.append((t_test(1 - mean / floor, error, growth.runs - 1), policy))
    below = [pair for pair in tests if pair[0].verdict == FAILS]
    test, policy = max(below or tests, key=lambda pair: pair[0].low if below else pair[0].high)
    return Claim(
        f"scaling-{name}",
        known.lower_bound,
        known.payoff,
        known.title,
        f"the nearest is {policy} with {1 - test.estimate:.2f} times the bound "
        f"({1 - test.high:.2f} to {1 - test.low:.2f})",
        next(iter(found.values())).runs,
        test,
    )
