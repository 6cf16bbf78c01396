"""The theorems of IncrementUCB against many runs on random problems.

python -m benchmarks.theorem            1000 runs
python -m benchmarks.theorem --runs N   as many as you like

Each run is of a random problem: 2 to 8 arms, D from 1 to 400, laws of six kinds, T from 20 to
20 000, either payoff, with and without spread. The theorem is about the mean; here no single run
may be above it, nor any arm be played more often than its part allows.
"""

import argparse
from typing import Any, NamedTuple

import numpy as np
from rich.progress import track

import tarry
from tarry.problems.problem import Payoff, Problem
from tarry.theory import increment_ucb_bound
from tarry.theory.increment_bounds import cost_part, reward_part, setup


class Trial(NamedTuple):
    """One run: regret over its bound, and the largest share of its part that an arm used."""

    payoff: Payoff
    share: float
    arm_share: float


def random_problem(rng: np.random.Generator) -> Problem:
    """Arms of one kind of law each, at all scales."""
    arms, most = int(rng.integers(2, 9)), int(np.exp(rng.uniform(0, np.log(400))))
    return tarry.problems.from_pmf([random_law(rng, most) for _ in range(arms)], max_delay=most)


def random_law(rng: np.random.Generator, most: int) -> Any:
    """Fixed, two points, few points, spread, near the end, or mostly short with a long tail."""
    kind = rng.integers(6)
    if kind == 0:
        return [int(rng.integers(0, most + 1))], [1.0]
    if kind == 1:
        chance = rng.random()
        return [0, most], [1 - chance, chance]
    if kind == 2:
        values = np.unique(rng.integers(0, most + 1, 4))
        return values.tolist(), rng.dirichlet(np.ones(len(values))).tolist()
    values = np.arange(most + 1)
    weights = {
        3: np.ones(most + 1),
        4: 0.8 ** (most - values),
        5: 1.0 / (1.0 + values) ** 1.5,
    }[int(kind)]
    return values.tolist(), (weights / weights.sum()).tolist()


def trial(seed: int, longest: int = 20_000) -> Trial:
    """One run of a random problem."""
    rng = np.random.default_rng((17, seed))
    problem = random_problem(rng)
    payoff: Payoff = "cost" if seed % 2 else "reward"
    horizon = int(np.exp(rng.uniform(np.log(20), np.log(longest))))
    spread = None if rng.random() < 0.5 else float(rng.choice([0.0, 1.0]))
    policy = tarry.IncrementUCB(spread=spread)
    run = tarry.play(policy, problem, payoff=payoff, horizon=horizon, seed=seed)
    bound = increment_ucb_bound(problem, horizon, payoff, spread)
    known = setup(problem.max_delay, horizon, payoff, spread)
    gaps, best = problem.gaps(payoff), float(problem.means[problem.best(payoff)])
    part = reward_part if payoff == "reward" else cost_part
    shares = [0.0]
    for arm in np.flatnonzero(gaps > 1e-12).tolist():
        most = part(known, problem.max_delay, best, float(problem.means[arm]), float(gaps[arm]))
        shares.append(float(np.sum(run.arms == arm) * gaps[arm] / most))
    return Trial(payoff, float(run.regret[-1]) / bound if bound else 0.0, max(shares))


def main() -> None:
    """Run them all and say how near any came to its bound."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.theorem")
    parser.add_argument("--runs", type=int, default=1000, help="how many runs")
    count = parser.parse_args().runs
    trials = [trial(seed) for seed in track(range(count), "Runs on random problems")]
    print(f"\n{'payoff':8}{'runs':>6}{'above the theorem':>19}{'regret / bound: mean':>22}", end="")
    print(f"{'largest':>9}{'plays of an arm / its part: largest':>37}")
    for payoff in ("cost", "reward"):
        chosen = [each for each in trials if each.payoff == payoff]
        shares = np.array([each.share for each in chosen])
        arms = max(each.arm_share for each in chosen)
        above = int(np.sum(shares > 1))
        print(f"{payoff:8}{len(chosen):6}{above:19}{shares.mean():22.3f}", end="")
        print(f"{shares.max():9.3f}{arms:37.3f}")


if __name__ == "__main__":
    main()
