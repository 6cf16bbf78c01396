"""A rule that goes outside an array: what to tell whoever wrote it, in simulation and live."""

from typing import Any

from tarry.errors import PolicyError
from tarry.inspection import line_outside
from tarry.policies.label import policy_label


def goes_outside(policy: Any, error: BaseException | None, otherwise: str = "") -> PolicyError:
    """The error with the line of the user's code, or with `otherwise` if that is not known."""
    line = error and line_outside(error)
    place = f" ({line})" if line else otherwise
    return PolicyError(f"{policy_label(policy)} goes outside an array: {error}{place}.")
