"""A look into the rule of a desk, for what only some policies have."""

from typing import Any, TypeVar

from tarry.arrays import is_tuple

T = TypeVar("T")


def find_inside(rule: Any, kind: type[T]) -> T | None:
    """The tuple of this kind inside a rule, if there is one."""
    if isinstance(rule, kind):
        return rule
    if is_tuple(rule):
        for field in rule:
            found = find_inside(field, kind)
            if found is not None:
                return found
    return None
