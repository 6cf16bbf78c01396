"""Judge a policy on the plays of a log: each play of an arm is handed the next of its rows.

Whenever the policy plays an arm for the k-th time, it gets the k-th row of that arm, in an order
that is shuffled anew for each run (queues of answers, as in Mandel, Liu, Brunskill and Popovic
2016; with one row per arm and step this is the replay of Li, Chu, Langford and Wang 2011 without
throwing rows away). As in the simulator one play is made per unit of time, and answers are seen
when they are due.

What it estimates without bias is the mean delay that the policy would have met, if

- every play of an arm has the same law, whoever chose it (no seasons, no kinds of visitors);
- how many rows an arm has does not depend on how they went. It does in a log that a policy wrote
  while it learned: an arm is left when it looks bad, so those that are left look worse than they
  are, and so does the replay (`shifted` says that the log may be such a one);
- no run comes to the end of a queue: with as many plays as the rarest arm has rows, none can;
- unfinished plays were not given up because of how they went. Theirs is the one part that is
  estimated: what they would have taken is drawn from the arm's own survival curve beyond their age.

The runs use the same rows, so their spread is that of the shuffling and of the policy, not how far
the log is from the truth; `log.means` tells that.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtrc

from tarry.arrays import FloatArray, IntArray
from tarry.checks import as_index, check_payoff, check_whole
from tarry.errors import PolicyError
from tarry.ledger import empty_ledger
from tarry.logs.by_arm import ByArm
from tarry.logs.worlds import ticks_of, unit_of
from tarry.plays import empty_plays, steady_ages, wide
from tarry.policies.check import check_policy, check_rule, rule_edges
from tarry.policies.driver import book_answer, book_start, decide, settle
from tarry.policies.label import policy_label
from tarry.policies.outside import miscounts
from tarry.policies.protocol import MOST_FAILED, STOP, Policy, Setting, follow_phase
from tarry.randomness import new_random
from tarry.survival_curve import SurvivalCurve
from tarry.tables import counted, number

if TYPE_CHECKING:
    from tarry.logs.log import Log
    from tarry.problems.problem import Payoff


QUARTERS = 4
RARE = 0.001


@dataclass(frozen=True, eq=False)
class Replayed:
    """What a policy met on the plays of a log."""

    policy: Policy
    payoff: str
    plays: int  # of each run
    mean: float  # delay per play, in the unit of the log
    logged: float  # the same for the choices that the log was made by
    runs: FloatArray  # the mean delay of each run
    shares: dict[str, float]  # how often each arm was played
    cut_short: int  # runs that ended early, at the end of a queue
    shifted: bool  # the shares of the arms changed in the course of the log, see `shares_shifted`

    def __str__(self) -> str:
        text = (
            f"{policy_label(self.policy)}: {number(self.mean)} per play over "
            f"{counted(self.plays, 'play')}; the choices of the log had {number(self.logged)}."
        )
        if self.cut_short:
            text += f" {self.cut_short} of {len(self.runs)} runs ended early, which may mislead."
        if self.shifted:
            text += (
                " The shares of the arms changed in the course of the log; if they followed how "
                "the plays went, as where a policy learns, this is biased."
            )
        return text


def replay_log(
    log: "Log",
    policy: Policy,
    payoff: "Payoff",
    *,
    plays: int | None,
    runs: int,
    seed: int,
    unit: float | None,
) -> Replayed:
    """Let `policy` choose in several runs; see the module for what the answer means.

    Args:
        log: where the answers come from.
        policy: settings of a decision rule.
        payoff: "cost" or "reward".
        plays: of each run; by default as many as the rarest arm has rows.
        runs: each with its own order of the rows.
        seed: of that order, and of the policy.
        unit: the time between two plays, see `Log.problem`.
    """
    reward = check_payoff(payoff)
    check_policy(policy, payoff)
    tick = unit_of(log, unit)
    most = ticks_of(log, tick)
    counts = np.bincount(log.arms, minlength=len(log.names))
    steps = (
        int(counts.min()) if plays is None else check_whole("number of plays", plays, 1, len(log))
    )
    setting = Setting(len(log.names), most, steps, reward)
    done = []
    for run in range(check_whole("number of runs", runs, 1)):
        rng = np.random.default_rng([check_whole("seed", seed, 0), run])
        queues = [shuffled(log, name, tick, most, rng) for name in log.names]
        done.append(play_queues(policy, setting, queues, seed=int(rng.integers(2**62))))
    arms = np.concatenate([run[0] for run in done])
    shares = np.bincount(arms, minlength=len(log.names)) / max(len(arms), 1)
    means = np.array([tick * run[1].mean() if len(run[1]) else np.nan for run in done])
    overall = log.means()
    return Replayed(
        policy=policy,
        payoff=payoff,
        plays=steps,
        mean=float(np.nanmean(means)),
        logged=float(sum(overall[name].mean * n for name, n in zip(log.names, counts, strict=True)))
        / len(log),
        runs=means,
        shares=ByArm(zip(log.names, shares.tolist(), strict=True)),
        cut_short=sum(len(run[0]) < steps for run in done),
        shifted=shares_shifted(log),
    )


def shares_shifted(log: "Log") -> bool:
    """Whether the shares of the arms differ between the quarters of a log whose order is known.

    Pearson's chi-squared test at 0.1 %. Without `start` the rows may be sorted in any way, and
    nothing can be said.
    """
    if log.starts is None:
        return False
    quarter = np.arange(len(log)) * QUARTERS // len(log)
    table = np.zeros((QUARTERS, len(log.names)))
    np.add.at(table, (quarter, log.arms), 1.0)
    table = table[np.ix_(table.sum(axis=1) > 0, table.sum(axis=0) > 0)]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    degrees = (table.shape[0] - 1) * (table.shape[1] - 1)
    return bool(chdtrc(degrees, ((table - expected) ** 2 / expected).sum()) < RARE)


def shuffled(log: "Log", name: str, tick: float, most: int, rng: np.random.Generator) -> IntArray:
    """The delays of an arm in ticks, in a random order, unfinished ones completed."""
    times, finished = log.of_arm(name)
    whole = np.where(finished, times, 0.0)
    for place in np.flatnonzero(~finished):
        whole[place] = completed(log.kaplan_meier[name], times[place], log.max_delay, rng)
    return np.minimum(np.rint(rng.permutation(whole) / tick), most).astype(np.int64)


def completed(curve: SurvivalCurve, age: float, limit: float, rng: np.random.Generator) -> float:
    """What a play that was given up at `age` would have taken, drawn from the curve beyond it."""
    here = float(curve.at(np.array([age]))[0])
    level = here * rng.random()
    later = np.flatnonzero((curve.times > age) & (curve.survival <= level))
    return min(float(curve.times[later[0]]), limit) if here > 0 and len(later) else limit


def play_queues(
    policy: Policy, setting: Setting, queues: list[IntArray], seed: int
) -> tuple[IntArray, IntArray]:
    """Arms and delays of one run, until its last play or until a queue is empty."""
    rule: Any = policy.start(setting)
    check_rule(rule, policy)
    ledger, plays = empty_ledger(setting.arms), wide(empty_plays(setting.max_delay, regular=True))
    ages = steady_ages(setting.max_delay, rule_edges(rule, policy, setting.max_delay))
    rng = new_random(seed)
    waiting = [iter(queue.tolist()) for queue in queues]
    due: dict[int, list[int]] = {}
    arms: list[int] = []
    delays: list[int] = []
    failures = 0
    for step in range(1, setting.horizon + 1):
        arm = decide(rule, ledger, plays, ages, step, step, rng)
        before, failures = failures, follow_phase(rule, ledger, failures)
        if not before <= failures <= before + MOST_FAILED:
            raise miscounts(policy, f"step {step}")
        if as_index(arm) is None:
            raise PolicyError(
                f"{policy_label(policy)} chose {arm!r} at step {step}; `select` returns the number "
                f"of an arm, an int, or {STOP} to stop."
            )
        delay = next(waiting[arm], None) if 0 <= arm < setting.arms else None
        if delay is None:
            break
        row = plays.row_of(step)
        book_start(rule, ledger, plays, row, arm, step)
        arms.append(arm)
        delays.append(delay)
        due.setdefault(step + delay, []).append(row)
        for back in reversed(due.pop(step, [])):  # seen in the step after it arrives
            took = step - int(plays.start[back])
            book_answer(rule, ledger, plays, back, took, step + 1, rng)
        settle(rule, ledger, plays, ages, step, step + 1)
    return np.array(arms, np.int64), np.array(delays, np.int64)
