"""Problems that change: pieces of time with laws of their own, and drift from one to the next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.checks import as_whole, check_payoff, check_whole, shortened
from tarry.errors import InputError
from tarry.problems.alias import cells_of
from tarry.problems.changing_world import (
    FIRST,
    FROM,
    ORIGIN,
    SPAN,
    TO,
    ChangingWorld,
    catch_delays,
    draw_blocks,
)
from tarry.problems.contextual import Contextual
from tarry.problems.law import Law
from tarry.problems.problem import Payoff, Problem, indices
from tarry.problems.recorded import Replay

LAST_STEP = 2**62


@dataclass(frozen=True, eq=False, repr=False)
class Changing(Problem):
    """Arms whose laws change with time; made by `changing`, `drifting` and `outage`.

    Time is cut into pieces. Each row of `plan` is one: its first step, the blocks of laws that it
    goes from and to, and, where these differ, the first step and the number of steps of the drift:
    a play in step s has the law of the second block with probability (s - origin) / span, and of
    the first one otherwise. Block n gives arm k the law block_laws[n * K + k].

    A play keeps the law of its start. Only rows of `caught`, (arm, step), say otherwise: plays of
    the arm that are out when the step begins never come back, so that they take D.

    `laws`, `means`, `best` and `gaps` are those of the first step. Regret is against the best arm
    of each step, by the exact means of that step.
    """

    block_laws: Sequence[Law] = field(kw_only=True)
    plan: IntArray = field(kw_only=True)
    caught: IntArray = field(kw_only=True)

    @cached_property
    def block_means(self) -> FloatArray:
        """E[d] / D of each arm, (blocks, arms)."""
        means = np.array([law.mean for law in self.block_laws]) / self.max_delay
        return means.reshape(-1, self.arms)

    def means_at(self, step: Any) -> FloatArray:
        """mu(i) in a step, or (steps, arms) for an array of steps; exact."""
        steps = indices(step, "steps", 1, LAST_STEP)
        rows = self.plan[np.searchsorted(self.plan[:, FIRST], steps.ravel(), "right") - 1]
        share = (steps.ravel() - rows[:, ORIGIN]) / np.maximum(rows[:, SPAN], 1)
        start, end = self.block_means[rows[:, FROM]], self.block_means[rows[:, TO]]
        found = start + (end - start) * share[:, None]
        return found.reshape(*steps.shape, self.arms)

    def best_at(self, step: Any, payoff: Payoff) -> Any:
        """The best arm of a step, or of each of an array of steps; of equals the first."""
        means = self.means_at(step)
        return np.argmax(means, -1) if check_payoff(payoff) else np.argmin(means, -1)

    def gaps_at(self, step: Any, payoff: Payoff) -> FloatArray:
        """Delta(i) in a step: what a play of arm i adds to the regret."""
        means = self.means_at(step)
        best = means.max(-1) if check_payoff(payoff) else means.min(-1)
        return np.abs(means - best[..., None])

    @property
    def changes(self) -> IntArray:
        """The steps at which something changes, a drift begins or ends."""
        rows = self.plan
        drifts = rows[rows[:, FROM] != rows[:, TO]]
        ends = drifts[:, ORIGIN] + drifts[:, SPAN]
        jumps = [
            after[FIRST]
            for before, after in pairwise(rows)
            if not np.array_equal(before[FROM:], after[FROM:])
        ]
        steps = np.unique(np.concatenate((jumps, drifts[:, ORIGIN], ends))).astype(np.int64)
        return steps[steps > 1]

    def regret_rates(self, payoff: Payoff) -> FloatArray:
        """What a play adds to the regret by piece and arm at first, then what each step adds."""
        first = self.plan[:, FIRST]
        gaps = self.gaps_at(first, payoff)
        each = (self.block_means[self.plan[:, TO]] - self.block_means[self.plan[:, FROM]]) / (
            np.maximum(self.plan[:, SPAN], 1)[:, None]
        )
        # Within a piece one arm is the best; where it starts with a tie, the next step tells which.
        later = np.append(first[1:], first[-1] + 2)
        best = self.best_at(np.where(later > first + 1, first + 1, first), payoff)
        steeper = each - np.take_along_axis(each, best[:, None], 1)
        return np.concatenate((gaps, -steeper if payoff == "reward" else steeper)).ravel()

    @cached_property
    def _cells(self) -> tuple[IntArray, IntArray]:
        return cells_of(self.block_laws)

    def world(self, seed: int = 0) -> ChangingWorld:
        """Delays under a seed, in the form the simulator reads."""
        most = np.full((len(self.caught), 1), self.max_delay)
        caught = np.hstack((self.caught, most)).astype(np.int64)
        return ChangingWorld(self._laws_under(seed), self.arms, self.plan, caught)

    def delays(self, seed: int, steps: Any, arms: Any) -> IntArray:
        """As for every problem; plays that an outage meets in flight may hang."""
        found = super().delays(seed, steps, arms)
        times, played = np.broadcast_arrays(steps, arms)
        return catch_delays(self.world(seed), times, played, found)

    def contexts(self, seed: int, steps: Any) -> IntArray:
        """All 0: requests do not differ."""
        return np.zeros(np.shape(indices(steps, "steps", 1, LAST_STEP)), np.int64)

    def _states(self, seed: int, steps: IntArray) -> IntArray:
        return draw_blocks(self.world(seed), steps)

    def _content(self) -> tuple[Any, ...]:
        told = self.plan.tobytes(), self.caught.tobytes()
        return type(self), self.max_delay, self.names, self.block_laws, *told

    def __reduce__(self) -> tuple[Any, ...]:
        told = self.max_delay, self.names, self.label
        return planned, (self.block_laws, self.plan, self.caught, *told)

    def _size(self) -> str:
        count = len(self.changes)
        return f"{super()._size()}, {count} {'change' if count == 1 else 'changes'}"

    def __str__(self) -> str:
        steps = ", ".join(map(str, self.changes[:8].tolist())) + ", ..." * (len(self.changes) > 8)
        return f"{super().__str__()}\nin the first step; changes at {steps or 'no step'}"


def planned(
    block_laws: Sequence[Law],
    plan: Any,
    caught: Any,
    max_delay: int,
    names: Sequence[str],
    label: str,
) -> Changing:
    """A changing problem from its blocks of laws and its plan; see `Changing`.

    Within a piece one arm must be the best all the time: `cut_at_crossings` sees to that.
    """
    arms = len(names)
    rows = np.ascontiguousarray(plan, np.int64).reshape(-1, 5)
    return Changing(
        block_laws[rows[0, FROM] * arms : (rows[0, FROM] + 1) * arms],
        max_delay,
        names,
        label,
        block_laws=tuple(block_laws),
        plan=rows,
        caught=np.ascontiguousarray(caught, np.int64).reshape(-1, 2),
    )


def changing(pieces: Any) -> Changing:
    """A problem that is another one from certain steps on.

    Args:
        pieces: {first step: problem}, beginning with step 1; all with the same arms and max_delay.

    >>> import tarry
    >>> before = tarry.problems.deterministic([20, 50], max_delay=100)
    >>> after = tarry.problems.deterministic([80, 50], max_delay=100)
    >>> problem = changing({1: before, 1000: after})
    >>> problem.means_at([999, 1000]).tolist(), problem.best_at([999, 1000], "cost").tolist()
    ([[0.2, 0.5], [0.8, 0.5]], [0, 1])
    """
    if not isinstance(pieces, Mapping) or not pieces:
        raise InputError(f"The pieces are {shortened(pieces)}; give a dict of problems by step.")
    steps = {step_of(step): problem for step, problem in pieces.items()}
    order = sorted(steps)
    if order[0] != 1:
        raise InputError(f"The first piece begins with step {order[0]}; it must begin with step 1.")
    problems = [steps[step] for step in order]
    check_alike(problems)
    plan = [[step, n, n, 0, 0] for n, step in enumerate(order)]
    laws = [law for problem in problems for law in problem.laws]
    told = ", ".join(f"{step}: {p.label or 'problem'}" for step, p in steps.items())
    first = problems[0]
    return planned(laws, plan, [], first.max_delay, first.names, f"changing({told})")


def drifting(start: Problem, end: Problem, first: int, last: int) -> Changing:
    """A problem that becomes another one little by little.

    Up to step `first` plays have the laws of `start`, from step `last` on those of `end`. In a step
    s between them a play has its law from `end` with probability (s - first) / (last - first), so
    that all means move in straight lines.

    >>> import tarry
    >>> start = tarry.problems.deterministic([20, 50], max_delay=100)
    >>> end = tarry.problems.deterministic([80, 50], max_delay=100)
    >>> problem = drifting(start, end, 1000, 2000)
    >>> problem.means_at(1500).tolist(), problem.best_at([1499, 1501], "cost").tolist()
    ([0.5, 0.5], [0, 1])
    """
    check_alike([start, end])
    begin = check_whole("first step", first, 1, LAST_STEP)
    final = check_whole("last step", last, begin + 1, LAST_STEP)
    plan = [[begin, 0, 1, begin, final - begin], [final, 1, 1, 0, 0]]
    if begin > 1:
        plan.insert(0, [1, 0, 0, 0, 0])
    laws = [*start.laws, *end.laws]
    label = f"drifting({start.label or 'problem'} to {end.label or 'problem'}, {begin}..{final})"
    return cut_at_crossings(planned(laws, plan, [], start.max_delay, start.names, label))


def cut_at_crossings(problem: Changing) -> Changing:
    """The same problem, with a new piece wherever a drift makes another arm the best."""
    plan = []
    ends = [*problem.plan[1:, FIRST], problem.plan[-1, FIRST]]
    for row, end in zip(problem.plan, ends, strict=True):
        plan.append(row)
        if row[FROM] != row[TO]:
            means = problem.means_at([row[FIRST]])[0], problem.means_at([end - 1])[0]
            for later in sorted(crossings(*means, int(end - 1 - row[FIRST]))):
                plan.append(row.copy())
                plan[-1][FIRST] += later
    told = problem.max_delay, problem.names, problem.label
    return planned(problem.block_laws, np.array(plan), problem.caught, *told)


def crossings(start: FloatArray, end: FloatArray, span: int) -> set[int]:
    """After how many of `span` steps another line is the lowest or the highest.

    Line k goes from start[k] to end[k]. From the line that is the lowest now, the next one is that
    which it meets first; likewise for the highest, upside down.
    """
    found: set[int] = set()
    for sign in (1.0, -1.0):
        low, slope = sign * start, sign * (end - start)
        now, best = 0.0, int(np.lexsort((slope, low))[0])
        while True:
            closer = slope < slope[best]
            if not closer.any():
                break
            apart = np.where(closer, low - low[best], np.inf)
            meet = np.where(closer, apart / np.where(closer, slope[best] - slope, 1.0), np.inf)
            meet = np.maximum(meet, now)
            now = float(meet.min())
            if now > 1.0:
                break
            tied = np.flatnonzero(meet <= now)
            best = int(tied[np.argmin(slope[tied])])
            found.add(int(np.ceil(now * span)))
    return {step for step in found if 0 < step <= span}


def step_of(step: Any) -> int:
    """A first step, which may be text, as the keys of a TOML table are."""
    number = as_whole(int(step) if isinstance(step, str) and step.isdigit() else step)
    return check_whole("first step of a piece", step if number is None else number, 1, LAST_STEP)


def check_alike(problems: Sequence[Any]) -> None:
    """Refuse pieces that are no problems with laws, or that have other arms or another D."""
    for problem in problems:
        if not isinstance(problem, Problem) or isinstance(problem, Contextual | Replay | Changing):
            raise InputError(
                f"A piece is {shortened(problem)}; it must be a problem with laws that has no "
                f"contexts and does not change itself."
            )
    first = problems[0]
    for problem in problems[1:]:
        if (problem.names, problem.max_delay) != (first.names, first.max_delay):
            raise InputError(
                f"The pieces have arms {shortened(first.names)} with max_delay {first.max_delay} "
                f"and {shortened(problem.names)} with {problem.max_delay}; arms and max_delay must "
                f"be the same."
            )
