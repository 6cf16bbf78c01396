"""Problems in which requests differ: a finite list of contexts, each with laws of its own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.checks import as_size, check_memory, check_payoff, shortened
from tarry.errors import InputError
from tarry.problems.alias import alias_cells, cells_of
from tarry.problems.context_world import ContextWorld, draw_contexts
from tarry.problems.delays import check_max_delay, check_names, check_numbers
from tarry.problems.law import Law
from tarry.problems.problem import Payoff, Problem, frozen

CELL_BYTES = 16  # of a value of a law in the table that a run looks delays up in
FEWER = "fewer contexts, a smaller max_delay or a coarser unit"
BIG = 1e150  # weights above it are made smaller before they are added up


@dataclass(frozen=True, eq=False, repr=False)
class Contextual(Problem):
    """Arms whose delays depend on the request; made by `contextual` and the families on it.

    There are N contexts. Context n comes with probability weights[n] in every step, shows the
    numbers features[n] and gives arm k the law context_laws[n * K + k]. Which context a step has
    is a pure function of (seed, step), and of nothing that is played.

    `laws`, `means`, `best` and `gaps` are those over all contexts: the world as a policy meets it
    that does not look at requests, and its best fixed arm. Regret is against the best arm of each
    context: `context_gaps`.
    """

    context_laws: Sequence[Law] = field(kw_only=True)
    rows: FloatArray = field(kw_only=True)  # (N, p), NaN where a number is missing
    weights: FloatArray = field(kw_only=True)  # (N,)
    columns: Sequence[str] = field(kw_only=True)  # what the p numbers are called
    contexts_named: Sequence[str] = field(kw_only=True, default=())  # N names, or none

    @property
    def features(self) -> FloatArray:
        """What is known of a request, a row for each context; NaN where a number is missing."""
        return self.rows

    @cached_property
    def context_means(self) -> FloatArray:
        """mu(n, k) = E[d] / D of each arm in each context, (contexts, arms); exact."""
        means = np.array([law.mean for law in self.context_laws]) / self.max_delay
        return frozen(means.reshape(len(self.rows), self.arms))

    def context_best(self, payoff: Payoff) -> IntArray:
        """The best arm of each context; of equals the first."""
        means = self.context_means
        return np.argmax(means, 1) if check_payoff(payoff) else np.argmin(means, 1)

    def context_gaps(self, payoff: Payoff) -> FloatArray:
        """Delta(n, k) = |mu(n, k) - mu*(n)|: what a play adds to the regret, (contexts, arms)."""
        best = self.context_best(payoff)[:, None]
        return np.abs(self.context_means - np.take_along_axis(self.context_means, best, 1))

    def fixed_gaps(self, payoff: Payoff) -> FloatArray:
        """What a step adds to the regret on average if arm k is played whatever the request."""
        gaps = self.context_gaps(payoff)
        return np.array([fsum((self.weights * column).tolist()) for column in gaps.T])

    @property
    def table_bytes(self) -> int:
        """Memory that the laws of all contexts take in a run, for any horizon."""
        return CELL_BYTES * sum(len(law.values) for law in self.context_laws)

    @property
    def row_bytes(self) -> int:
        """Memory that the features of the plays that may be out take in a run."""
        return 8 * self.rows.shape[1] * (1 << self.max_delay.bit_length())

    @cached_property
    def _cells(self) -> tuple[IntArray, IntArray]:
        """The alias cells of all virtual arms, and where each one's begin."""
        return cells_of(self.context_laws)

    @cached_property
    def _requests(self) -> IntArray:
        return alias_cells(np.arange(len(self.weights)), self.weights)

    def world(self, seed: int = 0) -> ContextWorld:
        """Delays and contexts under a seed, in the form the simulator reads."""
        return ContextWorld(self._laws_under(seed), self.arms, self._requests, self.features)

    def _states(self, seed: int, steps: IntArray) -> IntArray:
        return draw_contexts(self.world(seed), steps)

    def _content(self) -> tuple[Any, ...]:
        told = self.rows.shape, self.rows.tobytes(), self.weights.tobytes(), tuple(self.columns)
        return type(self), self.max_delay, self.names, self.context_laws, *told

    def __reduce__(self) -> tuple[Any, ...]:
        names = self.names, self.columns, self.contexts_named, self.label, self.family
        return contextual, (self.context_laws, self.rows, self.max_delay, self.weights, *names)

    def _size(self) -> str:
        count, width = self.rows.shape
        numbers = f"{width} {'feature' if width == 1 else 'features'}"
        return f"{super()._size()}, {count} {'context' if count == 1 else 'contexts'} of {numbers}"

    def __str__(self) -> str:
        tables, plays = (as_size(size) for size in (self.table_bytes, self.row_bytes))
        memory = f"laws {tables}, features of plays that may be out {plays}"
        return f"{super().__str__()}\nover all contexts; memory of a run: {memory}"


def contextual(
    laws: Sequence[Law],
    features: Any,
    max_delay: int,
    weights: Any = None,
    names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    context_names: Sequence[str] = (),
    label: str = "",
    family: str = "",
) -> Contextual:
    """A problem from N x K laws: laws[n * K + k] is that of arm k in context n.

    Args:
        laws: the laws, context by context.
        features: (N, p) numbers, NaN where one is missing.
        max_delay: D.
        weights: how often each context comes, in any unit; 0 for never, None for equally often.
        names: of the K arms.
        feature_names: of the p columns.
        context_names: of the N contexts, if they have any.
        label: how the problem was made, for people to read.
        family: the same without the seed.

    >>> quick, slow = Law([1], [1.0]), Law([4], [1.0])
    >>> problem = contextual([quick, slow, slow, quick], [[0.0], [1.0]], 4, [3, 1])
    >>> problem.context_best("cost"), problem.best("cost"), problem.fixed_gaps("cost")
    (array([0, 1]), 0, array([0.1875, 0.5625]))
    """
    most = check_max_delay(max_delay)
    rows = check_features(features)
    given: Any = laws
    every = tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(law, Law) for law in every):
        raise InputError(f"The laws are {shortened(laws)}; each must be a tarry.problems.Law.")
    if not every or len(every) % len(rows):
        raise InputError(
            f"Laws given: {len(every)}, contexts: {len(rows)}; each context must have as many laws."
        )
    arms = len(every) // len(rows)
    size = CELL_BYTES * sum(len(law.values) for law in every)
    check_memory(size, f"The laws of {len(rows)} contexts with {arms} arms", FEWER)
    shares = check_weights(weights, len(rows))
    over_all = [mixture(every[arm::arms], shares) for arm in range(arms)]
    return Contextual(
        over_all,
        most,
        check_names(names, arms),
        label,
        family,
        context_laws=every,
        rows=frozen(rows),
        weights=frozen(shares),
        columns=check_names(feature_names, rows.shape[1], "features"),
        contexts_named=context_names and check_names(context_names, len(rows), "contexts"),
    )


def check_features(features: Any) -> FloatArray:
    """A table of numbers, a row per context."""
    rows = np.array(check_numbers(features, "The features"), np.float64)
    if rows.ndim != 2 or not len(rows):
        raise InputError(f"The features have shape {rows.shape}; it must be (contexts, numbers).")
    if np.isinf(rows).any():
        raise InputError("A feature is infinite; give a number, or NaN where it is missing.")
    return np.ascontiguousarray(rows)


def check_weights(weights: Any, count: int) -> FloatArray:
    """Shares of `count` contexts that sum to 1, from numbers in any unit; 0 is never drawn."""
    if weights is None:
        return np.full(count, 1.0 / count)
    given = check_numbers(weights, "The weights").astype(np.float64)
    good = given.shape == (count,) and np.isfinite(given).all() and (given >= 0).all()
    if not good or not given.any():
        raise InputError(
            f"The weights are {shortened(weights)}; they must be {count} numbers from 0 on, not "
            "all of them 0."
        )
    given = given / given.max() if given.max() > BIG else given  # whose sum may not be finite
    total = fsum(given.tolist())
    return given if abs(total - 1.0) <= 2.0**-52 else given / total  # a second pass changes nothing


def mixture(laws: Sequence[Law], shares: FloatArray) -> Law:
    """The law of an arm over all contexts."""
    values = np.concatenate([law.values for law in laws])
    pairs = zip(laws, shares, strict=True)
    return Law(values, np.concatenate([share * law.probabilities for law, share in pairs]))
