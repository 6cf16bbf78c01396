"""A log: one row per play, unfinished ones marked, and what can be said about its arms."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.checks import check_payoff, check_share, shortened
from tarry.errors import InputError, UnknownNameError
from tarry.logs.answers import Best, Curve, Curves, Difference, Differences, Mean, Means
from tarry.logs.columns import Columns, check_flat, read_columns
from tarry.logs.confidence import DRAWS, Draws, mean_draws, quantiles, random_curves, steps_of
from tarry.logs.rows import BadRows, fields_of
from tarry.survival_curve import SurvivalCurve, kaplan_meier
from tarry.tables import counted

if TYPE_CHECKING:
    from tarry.logs.decision import Decision
    from tarry.logs.replay import Replayed
    from tarry.policies.protocol import Policy
    from tarry.problems.problem import Payoff, Problem

SEED = 20_240  # of the draws behind intervals: the same log gives the same figures


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """One row per play: its arm, how long it took, and whether that was all.

    Made by `Log.read` from a file or a table and by `Log.of` from lists; the constructor takes
    arrays that need no check, and arms that were never played may be among its names. A play that
    took D or longer, finished or not, counts as finished at D. Rows are kept in their order, which
    is that of `start` where it is given.

    >>> log = Log.of(["quiz", "quiz", "essay", "essay"], [30, 600, 45, 61],
    ...              [True, False, True, False], max_delay=600)
    >>> log
    <Log of 4 plays of 2 arms, max_delay 600, 1 unfinished>
    >>> log.means()["quiz"].mean
    315.0
    """

    names: tuple[str, ...]  # of the arms, in the order in which they appear
    arms: IntArray  # the arm of each play, as a place in `names`
    times: FloatArray
    finished: Any  # whether the play is over, or has reached D
    max_delay: float
    starts: FloatArray | None = None
    context: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    bad: BadRows = field(default_factory=BadRows)

    @classmethod
    def read(
        cls,
        source: Any,
        *,
        arm: str,
        time: str,
        finished: str | bool,
        max_delay: float,
        start: str | None = None,
        context: Sequence[str] = (),
        encoding: str | None = None,
    ) -> "Log":
        """A log from a CSV or Parquet file, a DataFrame, a dict of columns or a list of dicts.

        Args:
            source: a path, or the table itself.
            arm: the column that says which option was played.
            time: the column with how long it took, or has taken so far; numbers from 0 on.
            finished: the column that says whether the play is over: true/false, yes/no or 1/0.
                `finished=True` says that every play is.
            max_delay: D, in the unit of `time`; what takes longer counts as D.
            start: the column with when each play started, numbers or dates; rows are then put
                in this order.
            context: columns to keep for each play.
            encoding: of a CSV that is neither UTF-8 nor UTF-16.

        Rows that are no plays are left out and counted: see `log.bad`.
        """
        if isinstance(finished, bool) and not finished:
            raise InputError("finished is False; name a column, or say True if all are finished.")
        told = [] if isinstance(finished, bool) else [finished]
        wanted = [arm, time, *told, *([start] if start else []), *context]
        columns = read_columns(source, check_columns(wanted), encoding)
        values = columns.values
        return cls(
            **fields_of(
                values[arm],
                values[time],
                [True] * len(values[arm]) if isinstance(finished, bool) else values[finished],
                values[start] if start else None,
                max_delay=max_delay,
                context={name: values[name] for name in context},
                decimal_comma=columns.decimal_comma,
                place_of=columns.place_of,
                faults=columns.faults,
            )
        )

    @classmethod
    def of(
        cls,
        arms: Iterable[Any],
        times: Iterable[Any],
        finished: Iterable[Any] | bool,
        *,
        max_delay: float,
        start: Iterable[Any] | None = None,
        context: Mapping[str, Sequence[Any]] | None = None,
    ) -> "Log":
        """A log from lists: the arm of each play, how long it took, and whether it is finished.

        `finished=True` says that every play is.
        """
        for what, column in {"arms": arms, "times": times, "finished": finished}.items():
            check_flat(f"list {what!r}", 0 if isinstance(column, bool) else column)
        names, lasted = list(arms), list(times)
        ends = [finished] * len(names) if isinstance(finished, bool) else list(finished)
        begun = None if start is None else list(start)
        lengths = {len(names), len(lasted), len(ends), *([] if begun is None else [len(begun)])}
        lengths |= {len(column) for column in (context or {}).values()}
        if len(lengths) > 1:
            raise InputError(
                f"The lists have the lengths {', '.join(map(str, sorted(lengths)))}; "
                "there must be one arm, one time and one answer whether it is finished per play."
            )
        return cls(
            **fields_of(
                names,
                lasted,
                ends,
                begun,
                max_delay=max_delay,
                context=context or {},
                place_of=Columns({}).place_of,
            )
        )

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return (
            f"<Log of {counted(len(self), 'play')} of {counted(len(self.names), 'arm')}, "
            f"max_delay {self.max_delay:g}, "
            f"{self.unfinished} unfinished>"
        )

    @property
    def unfinished(self) -> int:
        """How many plays were watched only for a while."""
        return int((~self.finished).sum())

    def of_arm(self, name: str) -> tuple[FloatArray, Any]:
        """Times of the plays of an arm, and whether each is finished."""
        if name not in self.names:
            raise UnknownNameError.of("arm", name, self.names)
        chosen = self.arms == self.names.index(name)
        return self.times[chosen], self.finished[chosen]

    @cached_property
    def kaplan_meier(self) -> dict[str, SurvivalCurve]:
        """The exact estimate of each arm, without intervals."""
        return {name: kaplan_meier(*self.of_arm(name)) for name in self.names}

    @cached_property
    def _draws(self) -> dict[str, Draws]:
        """Random lower and upper means, independent between arms."""
        return {
            name: mean_draws(*self.of_arm(name), self.max_delay, [SEED, k])
            for k, name in enumerate(self.names)
        }

    def curves(self, level: float = 0.95) -> Curves:
        """The share of plays still going on after each time, by arm, with intervals."""
        share = check_share("level", level)
        return Curves({name: self._curve(name, k, share) for k, name in enumerate(self.names)})

    def _curve(self, name: str, arm: int, level: float) -> Curve:
        steps = steps_of(*self.of_arm(name), self.max_delay)
        draws = random_curves(steps, np.random.default_rng([SEED, arm]), DRAWS)
        miss = (1.0 - level) / 2
        exact = self.kaplan_meier[name]
        survival = exact.at(steps.start)
        place = np.searchsorted(exact.times, steps.start, "right")
        return Curve(
            times=steps.start,
            survival=survival,
            low=np.minimum(np.quantile(draws[0], miss, axis=0), survival),
            high=np.maximum(np.quantile(draws[1], 1.0 - miss, axis=0), survival),
            at_risk=steps.watched,
            variance=np.concatenate([[0.0], exact.variance])[place],
        )

    def means(self, level: float = 0.95) -> Means:
        """The mean delay of each arm, up to D, with an interval that holds at small counts."""
        share = check_share("level", level)
        return Means({name: self._mean(name, share) for name in self.names}, share)

    def _mean(self, name: str, level: float) -> Mean:
        times, finished = self.of_arm(name)
        mean = self.kaplan_meier[name].restricted_mean(self.max_delay)
        low, high = self._draws[name].limits(level)
        last = float(times.max(initial=0.0))
        over = len(times) > 0 and bool(finished[times == last].all())
        return Mean(
            mean=mean,
            low=min(low, mean),
            high=max(high, mean),
            plays=len(times),
            unfinished=int((~finished).sum()),
            known_to=self.max_delay if over else last,
            open_end=not over,
        )

    def differences(self, level: float = 0.95) -> Differences:
        """By how much the mean of each arm exceeds that of each other, with an interval."""
        share = check_share("level", level)
        pairs = {
            (a, b): self._difference(a, b, share)
            for k, a in enumerate(self.names)
            for b in self.names[k + 1 :]
        }
        return Differences(pairs, share)

    def _difference(self, a: str, b: str, level: float) -> Difference:
        means = [self.kaplan_meier[name].restricted_mean(self.max_delay) for name in (a, b)]
        first, second = self._draws[a], self._draws[b]
        low, high = quantiles(first.low - second.high, first.high - second.low, level)
        between = means[0] - means[1]
        return Difference(between, min(low, between), max(high, between))

    def best(self, payoff: "Payoff") -> Best:
        """The probability of each arm to be the best, and its expected loss if it is chosen.

        The best arm has the longest mean for reward, the shortest for cost. The probability is a
        share of random draws between the lower and upper limits of `means`: a measure of how the
        evidence is divided, not an error rate. `decide` has one. Where no play of an arm was
        watched up to D, anything from ending at once to lasting up to D is as likely.
        """
        sign = 1.0 if check_payoff(payoff) else -1.0
        gains = sign * np.array([self._draws[name].between for name in self.names])
        top = gains.max(axis=0)
        wins = np.bincount(gains.argmax(axis=0), minlength=len(self.names)) / gains.shape[1]
        losses = (top - gains).mean(axis=1)
        return Best(
            dict(zip(self.names, wins.tolist(), strict=True)),
            dict(zip(self.names, losses.tolist(), strict=True)),
            payoff,
        )

    def summary(self, payoff: "Payoff") -> str:
        """What the log says, in words."""
        from tarry.logs.words import summary

        return summary(self, payoff)

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Any = None) -> Any:
        """Draw the curves into a file or into axes of yours; returns the axes."""
        from tarry.logs.picture import plot_log

        return plot_log(self, path=path, axes=axes)

    def problem(self, unit: float | None = None) -> "Problem":
        """A world to simulate on, in which every arm has the law that this log estimates.

        Args:
            unit: times are rounded to multiples of it; by default 1 where all times are whole
                numbers and D is one, else D / 1000.

        What lies beyond the oldest play of an arm that was watched counts as D.
        """
        from tarry.logs.worlds import problem_of

        return problem_of(self, unit)

    def replay(
        self,
        policy: "Policy",
        *,
        payoff: "Payoff",
        plays: int | None = None,
        runs: int = 20,
        seed: int = 0,
        unit: float | None = None,
    ) -> "Replayed":
        """Let a policy choose, and hand it the plays of this log; see `tarry.logs.replay`."""
        from tarry.logs.replay import replay_log

        return replay_log(self, policy, payoff, plays=plays, runs=runs, seed=seed, unit=unit)

    def decide(self, payoff: "Payoff", error: float = 0.05, tolerance: float = 0.0) -> "Decision":
        """Stop or go on, with an error rate that holds at every look; see `tarry.logs.decision`."""
        from tarry.logs.decision import decide_log

        return decide_log(self, payoff, error=error, tolerance=tolerance)


def check_columns(names: Sequence[Any]) -> list[str]:
    """Names of columns."""
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"A column is {shortened(name)}; it must be named by a string.")
    return list(names)
