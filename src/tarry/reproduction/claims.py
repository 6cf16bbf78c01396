"""The claims of the paper, each with what was measured and a verdict computed from it.

A verdict is "holds" or "does not hold here" where the data decide at the 95 % level, otherwise
"undecided". Differences between policies are paired by run: they met the same instances and delays.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import fdtri, stdtr

from tarry.arrays import FloatArray
from tarry.experiments.curves import LEVEL, Difference, paired_difference, student
from tarry.experiments.result import Result
from tarry.reproduction.paper import BERNOULLI, PAPERS, normal_problems
from tarry.reproduction.scaling import Growth, ScalingExperiment, delay_floors, scaling_experiments
from tarry.tables import number

HOLDS, FAILS, OPEN = "holds", "does not hold here", "undecided"
NEAR = 0.1  # how far a fitted slope may be from the law; log T terms bend the lines a little


class Claim(NamedTuple):
    """One line of the report."""

    claim: str
    where: str  # on which problem
    measured: str
    verdict: str


def verdict(sign: int) -> str:
    """The words for 1 (as claimed), -1 (the opposite), 0 (the data do not tell)."""
    return {1: HOLDS, -1: FAILS}.get(sign, OPEN)


def last(result: Result, policy: str, problem: str) -> FloatArray:
    """The regrets at the horizon, one for each run."""
    return result.regret(policy, problem)[:, -1]


def outperforms(result: Result, better: str, worse: str) -> Iterator[Claim]:
    """That one policy has less regret than another, on each problem."""
    for problem in result.problems:
        one, other = last(result, better, problem), last(result, worse, problem)
        gap = paired_difference(one, other)
        yield Claim(
            f"{result.payoff.capitalize()}: {better} outperforms {worse}.",
            problem,
            f"{better} {number(one.mean())}, {worse} {number(other.mean())}; "
            f"difference {interval(gap)}",
            verdict(-gap.sign),
        )


def interval(gap: Difference) -> str:
    """A difference with its 95 % interval."""
    return f"{number(gap.mean)} ({number(gap.low)} to {number(gap.high)})"


def unpaired_difference(one: FloatArray, other: FloatArray) -> Difference:
    """Mean of one minus mean of other for independent runs (Welch)."""
    parts = [sample.var(ddof=1) / len(sample) for sample in (one, other)]
    error = sum(parts)
    weights = sum(part**2 / (len(s) - 1) for part, s in zip(parts, (one, other), strict=True))
    half = float(student(error**2 / weights if weights else 1.0)) * error**0.5
    mean = float(one.mean() - other.mean())
    return Difference(mean, mean - half, mean + half)


def spread_sign(one: FloatArray, other: FloatArray) -> int:
    """1 if `one` varies more than `other`, -1 if less, 0 if the data do not tell (F test)."""
    ratio = one.var(ddof=1) / max(other.var(ddof=1), 1e-300)
    degrees = len(one) - 1, len(other) - 1
    high = float(fdtri(*degrees, 0.5 + LEVEL / 2))
    low = float(fdtri(*degrees, 0.5 - LEVEL / 2))
    return int(ratio > high) - int(ratio < low)


def bernoulli_is_harder(result: Result) -> Iterator[Claim]:
    """That Bernoulli delays give more regret, and a larger standard deviation."""
    policies = PAPERS[result.payoff]
    for problem in normal_problems(result):
        ours = [last(result, policy, BERNOULLI) for policy in policies]
        theirs = [last(result, policy, problem) for policy in policies]
        pairs = list(zip(ours, theirs, strict=True))
        means = [f"{number(a.mean())} and {number(b.mean())}" for a, b in pairs]
        stds = [f"{number(a.std(ddof=1))} and {number(b.std(ddof=1))}" for a, b in pairs]
        for what, told, signs in (
            ("regret is higher", means, [unpaired_difference(*pair).sign for pair in pairs]),
            ("the standard deviation is larger", stds, [spread_sign(*pair) for pair in pairs]),
        ):
            text = "; ".join(f"{p} {numbers}" for p, numbers in zip(policies, told, strict=True))
            yield Claim(
                f"{result.payoff.capitalize()}: {what} on Bernoulli than on truncated normal.",
                problem,
                text,
                verdict(min(signs)),
            )


def doubling_varies(result: Result) -> Iterator[Claim]:
    """That BDSE varies much on Bernoulli, through the number of restarts, and history helps."""
    literal, kept = "BDSE", "BDSE(keep_history=True)"
    mine = last(result, literal, BERNOULLI)
    base = last(result, "OPSE", BERNOULLI)
    yield Claim(
        "Cost: BDSE has a high standard deviation on Bernoulli delays.",
        BERNOULLI,
        f"BDSE {number(mine.std(ddof=1))}, OPSE {number(base.std(ddof=1))}",
        verdict(spread_sign(mine, base)),
    )
    restarts = result.restarts(literal, BERNOULLI)
    yield Claim(
        "Cost: this is because the number of doubling calls differs between runs.",
        BERNOULLI,
        f"{restarts.min()} to {restarts.max()} restarts; correlation with the regret "
        f"{correlation(restarts, mine):.2f}",
        verdict(correlation_sign(restarts, mine)),
    )
    for problem in result.problems:
        one, other = last(result, kept, problem), last(result, literal, problem)
        yield Claim(
            "Cost: not throwing the history away at a doubling smooths this.",
            problem,
            f"standard deviation {number(one.std(ddof=1))} with history, "
            f"{number(other.std(ddof=1))} without; mean {number(one.mean())} and "
            f"{number(other.mean())}",
            verdict(-spread_sign(one, other)),
        )


def correlation(one: FloatArray, other: FloatArray) -> float:
    """Pearson's, 0 where one does not vary."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])


def correlation_sign(one: FloatArray, other: FloatArray) -> int:
    """1 or -1 if the correlation is not 0 at the 95 % level (Student's t), else 0."""
    r, degrees = correlation(one, other), len(one) - 2
    if degrees < 1 or r == 0:
        return 0
    t = r * np.sqrt(degrees / max(1 - r * r, 1e-12))
    tail = float(stdtr(degrees, -abs(t)))
    return int(np.sign(r)) if tail < (1 - LEVEL) / 2 else 0


def paper_claims(results: Mapping[str, Result]) -> list[Claim]:
    """Every claim of the paper's experiments, for the payoffs that were run."""
    found: list[Claim] = []
    reward, cost = results.get("reward"), results.get("cost")
    if reward is not None:
        for worse in ("OPSE", "CensoredUCB"):
            found += outperforms(reward, "BHSE", worse)
        found += bernoulli_is_harder(reward)
    if cost is not None:
        found += outperforms(cost, "BDSE", "OPSE")
        found += doubling_varies(cost)
        found += [
            claim._replace(claim=f"{claim.claim[:-1]} (not a claim of the paper).")
            for claim in outperforms(cost, "BDSE(keep_history=True)", "OPSE")
        ]
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
EXACT = (
    "SEPK",
    "OPSE",
    "CensoredUCB",
)  # of these the law says how fast it grows, not how fast at most


def scaling_claims(found: Mapping[str, Mapping[str, Growth]]) -> list[Claim]:
    """What the paper's Table 1, its corollaries and lower bounds say about growth."""
    claims = []
    for (name, policy), text in LAWS.items():
        growth = found.get(name, {}).get(policy)
        if growth is None or growth.law is None:
            continue
        slope = growth.slope
        exact = policy in EXACT
        off = abs(slope.slope - growth.law) if exact else slope.slope - growth.law
        words = f"as {growth.law:g}" if exact else f"at most {growth.law:g}"
        known = SCALING[name]
        of = f"log {known.symbol}" if known.against_log else known.symbol
        claims.append(
            Claim(
                text,
                known.title,
                f"log-log slope in {of}: {slope} ({words} is claimed); regret "
                f"{number(growth.mean[0])} to {number(growth.mean[-1])}",
                HOLDS if off <= NEAR + 2 * slope.error else FAILS,
            )
        )
    bounded = [name for name, known in SCALING.items() if known.lower_bound and name in found]
    return [*claims, *(lower_bound_claim(SCALING[name], found[name]) for name in bounded)]


def lower_bound_claim(known: ScalingExperiment, found: Mapping[str, Growth]) -> Claim:
    """That no policy pays less than the lower bound, at any value."""
    ratios = {}
    for policy, growth in found.items():
        bound = delay_floors(known, growth.x)
        top = np.where(np.isnan(growth.high), growth.mean, growth.high)
        ratios[policy] = float(np.min(top / bound))
    best = min(ratios, key=lambda policy: ratios[policy])
    return Claim(
        known.lower_bound,
        known.title,
        f"the nearest is {best}, whose regret is up to {ratios[best]:.2f} times the bound "
        f"(upper end of the 95 % interval)",
        HOLDS if ratios[best] >= 1 else FAILS,
    )
