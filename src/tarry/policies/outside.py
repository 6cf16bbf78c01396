"""What a rule does wrong while it plays: what to tell whoever wrote it, in simulation and live."""

from typing import Any

from tarry.arrays import arrays_of, is_tuple, is_writable
from tarry.errors import PolicyError
from tarry.inspection import line_outside
from tarry.policies.label import policy_label
from tarry.policies.protocol import MOST_FAILED


def goes_outside(policy: Any, error: BaseException | None, otherwise: str = "") -> PolicyError:
    """The error with the line of the user's code, or with `otherwise` if that is not known."""
    line = error and line_outside(error)
    place = f" ({line})" if line else otherwise
    return PolicyError(f"{policy_label(policy)} goes outside an array: {error}{place}.")


def miscounts(policy: Any, when: str) -> PolicyError:
    """The count of failed phases goes back, or on by too much, at a step or play."""
    return PolicyError(
        f"{policy_label(policy)} counts more than {MOST_FAILED} failed phases at {when}, or fewer "
        f"than before; phase[1] grows by one for each phase that fails."
    )


def writes_read_only(policy: Any, rule: Any, error: ValueError) -> PolicyError | None:
    """What to tell of an error of NumPy if it is that a rule writes to a read-only array."""
    if isinstance(error, PolicyError) or "read-only" not in str(error) or not is_tuple(rule):
        return None
    name = type(rule).__name__
    fields = [f"{name}.{path}" for path, array, _ in arrays_of(rule) if not is_writable(array)]
    if not fields:
        return None
    line = line_outside(error)
    return PolicyError(
        f"{policy_label(policy)} writes to a read-only array, {' or '.join(fields)}"
        f"{f' ({line})' if line else ''}; let `start` make a copy, as in array.copy()."
    )
