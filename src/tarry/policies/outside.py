"""What a rule does wrong while it plays: what to tell whoever wrote it, in simulation and live."""

from typing import Any

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
