"""Evidence for the page on the paper's defects: python -m benchmarks.defects [--quick].

Every section prints one table. Nothing here is part of the package: what the paper prints and
tarry does not do is in `benchmarks.printed_rules`.
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import tarry
from benchmarks.printed_rules import CommonF, CountingBDSE, PrintedRSE, PrintedSEPK
from tarry.problems import Problem
from tarry.problems.problem import Payoff
from tarry.simulation.play import Mode
from tarry.tables import markdown_table
from tarry.theory import evidence, lower_conservative, lower_cost, upper_bound

Rows = list[tuple[Any, ...]]
Maker = Callable[[int], Problem]


class Size(NamedTuple):
    """How much is run."""

    horizon: int  # T of the paper's experiments
    arms: int  # K
    max_delay: int  # D
    runs: int
    mode: Mode


FULL = Size(150_000, 30, 5000, 100, "auto")
QUICK = Size(600, 4, 40, 2, "interpreted")


def families(size: Size) -> dict[str, Maker]:
    """The paper's two families, and Bernoulli arms that are hard to tell apart."""

    def near(seed: int) -> Problem:
        chances = np.random.default_rng(seed).uniform(0.45, 0.55, size.arms)
        return tarry.problems.bernoulli(max_delay=50, probabilities=chances.tolist())

    return {
        "Bernoulli": lambda seed: tarry.problems.bernoulli(size.arms, size.max_delay, seed=seed),
        "truncated normal": lambda seed: tarry.problems.truncated_normal(
            size.arms, size.max_delay, seed=seed
        ),
        "Bernoulli, means 0.45 to 0.55, D = 50": near,
    }


def always(policy: Any) -> Callable[[Problem], Any]:
    """The same policy whatever the problem."""
    return lambda _: policy


def plays(
    policy: Callable[[Problem], Any], make: Maker, payoff: Payoff, size: Size
) -> Iterator[tuple[Problem, tarry.Run]]:
    """One run per seed, instances redrawn."""
    for seed in range(size.runs):
        problem = make(seed)
        run = tarry.play(
            policy(problem),
            problem,
            payoff=payoff,
            horizon=size.horizon,
            seed=seed,
            mode=size.mode,
        )
        yield problem, run


def lost(problem: Problem, run: tarry.Run, payoff: Payoff) -> bool:
    """Whether the best arm is gone: the run failed, or its last sweep lacks it."""
    tail = run.arms[-2 * problem.arms :]
    return run.failed_at is not None or problem.best(payoff) not in tail


def summary(
    policy: Callable[[Problem], Any], make: Maker, payoff: Payoff, size: Size
) -> tuple[float, float, float]:
    """Share of runs that lost the best arm, mean restarts, mean regret."""
    rows = [
        (lost(problem, run, payoff), len(run.restarts), run.regret[-1])
        for problem, run in plays(policy, make, payoff, size)
    ]
    shares = np.mean(np.array(rows, float), axis=0)
    return float(shares[0]), float(shares[1]), float(shares[2])


def printed_u2(size: Size) -> Rows:
    """The number of plays n instead of |F| in the appendix's U2."""
    rows: Rows = [("family", "policy", "best arm lost", "restarts", "regret")]
    policies: dict[str, Callable[[Problem], Any]] = {
        "BHSE, n_F": always(tarry.BHSE()),
        "BHSE, n": always(PrintedRSE()),
    }
    single_phase: dict[str, Callable[[Problem], Any]] = {
        "RSE(mu*), n_F": lambda problem: tarry.RSE(float(problem.means.max())),
        "RSE(mu*), n": lambda problem: PrintedRSE(float(problem.means.max())),
    }
    for family, make in families(size).items():
        for name, policy in {**single_phase, **policies}.items():
            share, restarts, regret = summary(policy, make, "reward", size)
            end = "fails" if name in single_phase and share == 1 else f"{regret:.0f}"
            rows.append((family, name, f"{share:.0%}", f"{restarts:.1f}", end))
    return rows


def printed_sepk(size: Size) -> Rows:
    """sqrt(2 log T / t) instead of sqrt(2 log T / n) in SE-PK."""
    rows: Rows = [("family", "payoff", "radius with", "best arm lost", "regret")]
    payoffs: tuple[Payoff, ...] = ("cost", "reward")
    for family, make in families(size).items():
        for payoff in payoffs:
            for name, policy in {"n": tarry.SEPK(), "t": PrintedSEPK()}.items():
                share, _, regret = summary(always(policy), make, payoff, size)
                rows.append((family, payoff, name, f"{share:.0%}", f"{regret:.0f}"))
    return rows


def common_f(size: Size) -> Rows:
    """F of all arms together, as the main text defines it."""
    rows: Rows = [("family", "F", "arms left at T", "regret")]
    for family, make in families(size).items():
        for name, policy in {"of the arm": tarry.CSE(1.0), "of all arms": CommonF(1.0)}.items():
            ends = [
                (len(set(run.arms[-2 * problem.arms :].tolist())), run.regret[-1])
                for problem, run in plays(always(policy), make, "cost", size)
            ]
            left, regret = np.mean(np.array(ends, float), axis=0)
            rows.append((family, name, f"{left:.1f}", f"{regret:.0f}"))
    return rows


def silent_l3(size: Size) -> Rows:
    """How many plays of an arm can be missing, and how many L3 needs to exceed 0."""
    need = math.floor(16 * math.log(size.horizon) + 2) + 1
    rows: Rows = [("active arms", "most that can be missing", "L3 > 0 needs")]
    for active in (30, 27, 26, 25, 20, 10, 2, 1):
        rows.append((active, math.ceil(size.max_delay / active), need))
    return rows


def kept_history(size: Size) -> Rows:
    """L3 with |S| when history is kept: S grows again, but old plays were closer together."""
    rows: Rows = [("family", "bounds computed", "L3 with the size of S wrong", "L3 with R wrong")]
    for family, make in families(size).items():
        wrong = np.zeros(3, np.int64)
        for seed in range(size.runs):
            problem = make(seed)
            policy = CountingBDSE(problem.means)
            tarry.play(
                policy,
                problem,
                payoff="cost",
                horizon=size.horizon,
                seed=seed,
                record=1,
                mode=size.mode,
            )
            wrong += policy.wrong
        rows.append((family, *wrong.tolist()))
    return rows


def sepk_theorem(size: Size) -> Rows:
    """The theorem on SE-PK against SE-PK, arms with fixed delays 0 and D."""
    rows: Rows = [("D", "T", "regret of SE-PK", "printed bound", "safe bound")]
    for most in (1000, 10_000, 100_000, 1_000_000) if size is FULL else (100, 1000):
        horizon = max(size.horizon, 3 * most)
        problem = tarry.problems.deterministic([0, most], max_delay=most)
        run = tarry.play(
            tarry.SEPK(), problem, payoff="cost", horizon=horizon, record=1, mode=size.mode
        )
        bounds = [
            f"{upper_bound('SEPK', problem, horizon, payoff='cost', form=form):.0f}"
            for form in ("printed", "safe")
        ]
        rows.append((most, horizon, f"{run.regret[-1]:.0f}", *bounds))
    return rows


def doubling_corollaries(size: Size) -> Rows:
    """Printed corollaries at the edges, against regret and the safe form."""
    rows: Rows = [("policy", "fixed delays", "regret", "printed", "safe", "T Delta_max")]
    most = size.max_delay
    cases: list[tuple[Any, Payoff, list[int]]] = [
        (tarry.BDSE(), "cost", [0, most]),
        (tarry.BDSE(), "cost", [1, most]),
        (tarry.BDSE(), "cost", [most // 10, most]),
        (tarry.BHSE(), "reward", [most // 2, most]),
        (tarry.BHSE(), "reward", [most // 10, most // 2]),
    ]
    for policy, payoff, delays in cases:
        problem = tarry.problems.deterministic(delays, max_delay=most)
        run = tarry.play(
            policy, problem, payoff=payoff, horizon=size.horizon, record=1, mode=size.mode
        )
        bounds = [
            f"{upper_bound(policy, problem, size.horizon, form=form):.0f}"
            for form in ("printed", "safe")
        ]
        trivial = tarry.theory.trivial_bound(problem, payoff, size.horizon)
        shown = f"{delays[0]}, {delays[1]}"
        name = type(policy).__name__
        rows.append((name, shown, f"{run.regret[-1]:.0f}", *bounds, f"{trivial:.0f}"))
    return rows


def removed_arms(size: Size) -> Rows:
    """The lower bound on missing plays in SE-PK's good event, for arms that are out of play."""
    most = 4 * size.max_delay
    problem = tarry.problems.deterministic([0, most // 4], max_delay=most)
    run = tarry.play(tarry.SEPK(), problem, payoff="cost", horizon=2 * most, seed=0, mode=size.mode)
    starts = np.flatnonzero(run.arms == 1) + 1
    last = int(starts[-1])
    rows: Rows = [("step", "plays in the last D steps", "missing", "claimed: at least")]
    for now in (last + 1, last + most // 4 + 1, last + most // 2):
        recent = int((starts > now - most).sum())
        missing = int((starts + most // 4 >= now).sum())
        claim = (recent * problem.means[1] - 1) / 2 - 4 * math.log(2 * most)
        rows.append((now, recent, missing, f"{max(claim, 0):.0f}"))
    return rows


def complete_plays(size: Size) -> Rows:
    """|F| differs among the arms of a test, and holds plays that are still missing."""
    rows: Rows = [("family", "tests", "n_F not the same for all", "F with a play not yet seen")]
    for family, make in list(families(size).items())[:2]:
        small = size._replace(runs=min(size.runs, 5))
        counts = np.zeros(3, np.int64)
        for problem, run in plays(always(tarry.SEPK()), make, "cost", small):
            known = evidence(run, problem)
            order = np.argsort(known.now, kind="stable")
            tests, first = np.unique(known.now[order], return_index=True)
            least = np.minimum.reduceat(known.complete[order], first)
            most = np.maximum.reduceat(known.complete[order], first)
            old = tests - problem.max_delay
            old = old[old >= 1]
            waiting = (run.delays[old - 1] == problem.max_delay).sum()
            counts += [len(tests), int((least < most).sum()), int(waiting)]
        rows.append((family, *counts.tolist()))
    return rows


def remaining_horizon(size: Size) -> Rows:
    """CSE(T - t): the confidence of the phases that BDSE and BHSE restart."""
    rows: Rows = [("family", "policy", "latest restart", "log T", "least log(T - t)", "3 / left^2")]
    cases: list[tuple[str, Any, Payoff]] = [
        ("BDSE", tarry.BDSE(), "cost"),
        ("BHSE", tarry.BHSE(), "reward"),
    ]
    for family, make in list(families(size).items())[:2]:
        for name, policy, payoff in cases:
            latest = [
                int(run.restarts[-1]) if len(run.restarts) else 1
                for _, run in plays(always(policy), make, payoff, size)
            ]
            left = max(size.horizon - max(latest) + 1, 2)
            logs = (f"{math.log(size.horizon):.2f}", f"{math.log(left):.2f}")
            rows.append((family, name, max(latest), *logs, f"{3 / left**2:.0e}"))
    return rows


def regimes(size: Size) -> Rows:
    """In how many instances of the experiments the delay term is smaller than D Delta_max."""
    rows: Rows = [("family", "d_bar < D Delta_max (reward)", "d* < D Delta_max (cost)")]
    for family, make in list(families(size).items())[:2]:
        counts = np.zeros(2)
        for seed in range(size.runs):
            delays = np.sort(make(seed).mean_delays)
            spread = delays[-1] - delays[0]
            counts += [delays[-2] < spread, delays[0] < spread]
        rows.append((family, *(f"{share:.0%}" for share in counts / size.runs)))
    return rows


def lower_bounds(size: Size) -> Rows:
    """The constants of the lower bounds."""
    rows: Rows = [("theorem", "d*", "D", "blind steps", "printed", "exact")]
    for delay in (size.max_delay // 100 + 1, size.max_delay // 2):
        bound = lower_cost(delay, size.max_delay)
        rows.append(
            ("cost", delay, size.max_delay, bound.blind, bound.printed, f"{bound.average:.1f}")
        )
    short = lower_conservative(size.max_delay // 100 + 1, size.max_delay)
    rows.append(
        (
            "conservative",
            size.max_delay // 100 + 1,
            size.max_delay,
            short.blind,
            f"{short.printed:.1f}",
            f"{short.worst:.1f}",
        )
    )
    return rows


SECTIONS: dict[str, Callable[[Size], Rows]] = {
    "RSE: n instead of n_F, the size of F, in U2": printed_u2,
    "SE-PK: t instead of n in the radius": printed_sepk,
    "CSE: F without i_s = i": common_f,
    "L3 at the paper's T, D and K": silent_l3,
    "Kept history: the size of S instead of R in L3": kept_history,
    "SE-PK: the printed theorem": sepk_theorem,
    "BDSE and BHSE: the printed corollaries": doubling_corollaries,
    "SE-PK: the good event for removed arms": removed_arms,
    "F: same for all arms, always returned": complete_plays,
    "CSE(T - t)": remaining_horizon,
    "Experiments: which term is the smaller": regimes,
    "Lower bounds: constants": lower_bounds,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description="Evidence for the page on the paper's defects.")
    parser.add_argument("--quick", action="store_true", help="tiny runs, to see that it works")
    parser.add_argument("--runs", type=int, help="runs per row (default 100)")
    given = parser.parse_args(arguments)
    size = QUICK if given.quick else FULL
    if given.runs:
        size = size._replace(runs=given.runs)
    print(f"T = {size.horizon}, K = {size.arms}, D = {size.max_delay}, {size.runs} runs per row")
    for title, section in SECTIONS.items():
        head, *rows = section(size)
        print(f"\n{title}\n\n{markdown_table(head, rows)}", flush=True)


if __name__ == "__main__":
    main()
