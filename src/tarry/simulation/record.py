"""Which steps of a run are kept."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tarry.arrays import Steps
from tarry.checks import as_whole, check_whole, shortened
from tarry.errors import InputError

LONGEST_FULL_RECORD = 200_000_000  # steps; 16 bytes each


def steps_to_record(record: int | npt.ArrayLike | None, horizon: int) -> Steps | None:
    """The steps that `record` asks for (see `play`), None for all of them."""
    if record is None:
        if horizon > LONGEST_FULL_RECORD:
            raise InputError(
                f"Recording all {horizon} steps would take {horizon * 16 / 2**30:.0f} GiB; give "
                f"record=1000, say, to keep that many evenly spaced steps."
            )
        return None
    if isinstance(record, str) or not hasattr(record, "__iter__") or _has_no_dimension(record):
        return evenly_spaced(check_whole("record", record, 1, LONGEST_FULL_RECORD), horizon)
    steps = _whole_steps(record)
    if steps is None or not steps.size:
        raise InputError(
            f"The record is {shortened(record)}; it must be a number of steps or a list of steps."
        )
    if np.any(np.diff(steps) <= 0) or steps[0] < 1 or steps[-1] > horizon:
        raise InputError(
            f"The record is {shortened(record)}; its steps must increase, from 1 to {horizon}."
        )
    return steps


def evenly_spaced(points: int, horizon: int) -> Steps:
    """At most `points` steps, spread evenly over 1..horizon, the horizon among them."""
    points = min(points, horizon)
    ends = np.linspace(horizon / points, horizon, points)
    return np.unique(np.maximum(np.rint(ends), 1).astype(np.int64))


def _has_no_dimension(record: Any) -> bool:
    return isinstance(record, np.ndarray) and record.ndim == 0


def _whole_steps(record: Any) -> Steps | None:
    """A list of steps as an array, None if it is no plain list of whole numbers."""
    if isinstance(record, np.ndarray) and record.dtype.kind in "iu" and record.ndim == 1:
        return record.astype(np.int64)
    try:
        return np.array([as_whole(step) for step in record], np.int64)
    except (TypeError, OverflowError):  # as_whole gave None, or a number beyond 64 bits
        return None
