"""Problems with contexts from what the user has: a problem per segment, a table of run times."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from tarry.arrays import IntArray
from tarry.checks import check_positive, shortened
from tarry.errors import InputError
from tarry.problems.builders import Names
from tarry.problems.changing import Changing
from tarry.problems.contextual import Contextual, contextual
from tarry.problems.delays import (
    check_delays,
    check_max_delay,
    check_names,
    check_numbers,
    column_names,
)
from tarry.problems.law import Law
from tarry.problems.problem import Problem
from tarry.problems.recorded import Replay


def segments(problems: Any, weights: Any = None) -> Contextual:
    """Requests of a few kinds, each of which has the laws of a problem of its own.

    A request shows one number per segment: 1 for the one that it belongs to, 0 for the others.

    Args:
        problems: {name of the segment: problem}, all with the same arms and the same max_delay.
        weights: how often each segment comes, in any unit: numbers in the order of the segments, or
            a dict of them by name; 0 for never, None for equally often.

    >>> import tarry
    >>> phone = tarry.problems.deterministic([20, 50], max_delay=100, names=["fra", "ams"])
    >>> desktop = tarry.problems.deterministic([30, 10], max_delay=100, names=["fra", "ams"])
    >>> problem = segments({"phone": phone, "desktop": desktop}, weights=[0.7, 0.3])
    >>> problem.context_best("cost"), problem.fixed_gaps("cost").round(3).tolist()
    (array([0, 1]), [0.06, 0.21])
    """
    if not isinstance(problems, Mapping) or not problems:
        raise InputError(
            f"The segments are {shortened(problems)}; give a dict of problems by name."
        )
    first, *others = problems.values()
    for name, problem in dict(problems).items():
        plain = isinstance(problem, Problem) and not isinstance(
            problem, Contextual | Changing | Replay
        )
        if not plain:
            raise InputError(
                f"Segment {name!r} is {shortened(problem)}; it must be a problem with laws, "
                "without contexts and without changes."
            )
    for problem in others:
        if (problem.names, problem.max_delay) != (first.names, first.max_delay):
            raise InputError(
                f"The segments have arms {shortened(first.names)} with max_delay "
                f"{first.max_delay} and {shortened(problem.names)} with {problem.max_delay}; "
                "arms and max_delay must be the same."
            )
    names = check_names(list(problems), len(problems))
    if isinstance(weights, Mapping):
        if set(weights) != set(problems):
            raise InputError(
                f"The weights are for {shortened(list(weights))}; they must be for the segments "
                f"{', '.join(names)}."
            )
        weights = [weights[name] for name in problems]
    laws = [law for problem in problems.values() for law in problem.laws]
    told = names, f"segments({', '.join(names)})"
    return contextual(laws, np.eye(len(names)), first.max_delay, weights, first.names, names, *told)


def from_table(
    features: Any,
    times: Any,
    max_delay: int,
    names: Names = None,
    *,
    weights: Any = None,
    unit: float | None = None,
    above: Literal["refuse", "clip"] = "refuse",
) -> Contextual:
    """Requests whose time under every arm is known: measured run times, with features of each.

    Each row is a context, drawn at random in every step; its delays are fixed. Data frames of
    pandas or polars and tables of pyarrow name features and arms by their columns; where those of
    pandas have an index, it must be the same for all.

    Args:
        features: (N, p) numbers, NaN (or NA, None, masked) where one is missing.
        times: (N, K) times, one for each arm; all must be known.
        max_delay: D.
        names: of the arms.
        weights: how often each row comes, in any unit; 0 for never, None for equally often.
        unit: None if times are whole numbers; otherwise time / unit is rounded half to even.
        above: what happens to a time longer than D. "refuse": it is an error; "clip": it counts
            as D, as if nobody had waited longer.

    >>> problem = from_table([[0.1], [0.9]], [[3, 8], [7.2, 2.1]], max_delay=8, unit=1)
    >>> problem.context_means.tolist()
    [[0.375, 1.0], [0.875, 0.25]]
    """
    most = check_max_delay(max_delay)
    if above not in ("refuse", "clip"):
        raise InputError(f"above is {shortened(above)}; it must be 'refuse' or 'clip'.")
    names = names if names is not None else column_names(times)
    delays = whole_delays(times, most, unit, names, clip=above == "clip")
    each = {delay: Law([delay], [1.0]) for delay in np.unique(delays).tolist()}
    laws = [each[delay] for delay in delays.ravel().tolist()]
    columns = column_names(features)
    label = f"from_table of {len(delays)} rows"
    table = check_numbers(features, "The features")
    if table.ndim != 2 or len(table) != len(delays):
        raise InputError(
            f"The features have shape {table.shape} and the times {delays.shape}; both must have "
            "two dimensions and as many rows."
        )
    check_indexes({"features": features, "times": times, "weights": weights})
    return contextual(laws, table, most, weights, names, columns, label=label)


def whole_delays(
    times: Any, most: int, unit: float | None, names: Names, *, clip: bool
) -> IntArray:
    """A table of times as whole delays."""
    given = check_numbers(times, "The times")
    if given.ndim != 2 or not given.size:
        raise InputError(f"The times have shape {given.shape}; it must be (rows, arms).")
    numbers = given
    if unit is not None:
        with np.errstate(over="ignore"):  # what is infinite then is refused below
            numbers = np.rint(given / check_positive("unit", unit))
    named = names if isinstance(names, Sequence) and len(names) == given.shape[1] else None

    def place(at: Sequence[int]) -> str:
        arm = at[1] if named is None else repr(named[at[1]])
        return f" in row {at[0] + 1} (counted from 1) of arm {arm}"

    unknown, below = np.argwhere(np.isnan(given)), np.argwhere(numbers < 0)
    if len(unknown):
        raise InputError(
            f"The time{place(unknown[0])} is missing; every time must be known, that of each arm "
            "in each row."
        )
    if len(below):
        row, arm = (int(i) for i in below[0])
        raise InputError(
            f"The time{place((row, arm))} is {given[row, arm].item()!r}, below 0; it must be 0 or "
            "more."
        )

    if clip:
        numbers = np.minimum(numbers, most)
    long = np.argwhere((numbers > most) & np.isfinite(numbers))
    if len(long):
        row, arm = (int(i) for i in long[0])
        units = "" if unit is None else f" in units of {unit:g}"
        raise InputError(
            f"The time{place((row, arm))} is {given[row, arm].item()!r}, above max_delay = "
            f"{most}{units}; above='clip' would count it as that."
        )
    return check_delays(numbers, most, place)


def check_indexes(tables: Mapping[str, Any]) -> None:
    """Refuse what pandas would put side by side in another order, by the names of its rows."""
    found: dict[str, Any] = {n: getattr(table, "index", None) for n, table in tables.items()}
    indexed = [(what, index) for what, index in found.items() if hasattr(index, "equals")]
    for (one, ours), (other, theirs) in pairwise(indexed):
        if len(ours) == len(theirs) and not ours.equals(theirs):
            pairs = list(zip(ours.tolist(), theirs.tolist(), strict=True))
            at = next((row for row, (left, right) in enumerate(pairs) if left != right), 0)
            left, right = map(shortened, pairs[at])
            raise InputError(
                f"Row {at + 1} (counted from 1) has index {left} in the {one} and {right} in the "
                f"{other}; put the rows into one order, or drop the indexes with .to_numpy()."
            )
