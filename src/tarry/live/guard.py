"""A user's rule that fails while it is told of a fact.

A choice that fails is an error of `ask`: nothing was chosen. A fact has happened whatever a rule
makes of it: it is booked, the rule's failure is counted and said once, and the agent goes on. What
the rule has written before it failed stays; of its own arrays it is the only judge.
"""

import logging
from collections.abc import Callable
from typing import Any

from tarry.inspection import line_outside
from tarry.policies.protocol import HOOKS

log = logging.getLogger("tarry")


class Guarded:
    """A rule, but that none of its hooks raises an `Exception`."""

    def __init__(self, rule: Any, label: str, failed: Callable[[], int]) -> None:
        """`failed` is called each time; how often it was called so far."""
        self._rule = rule
        for hook in HOOKS:
            method = getattr(rule, hook.__name__, None)
            if method is not None:
                setattr(self, hook.__name__, _guarded(method, label, failed))

    def __getattr__(self, name: str) -> Any:
        """Everything else is the rule's."""
        return getattr(self._rule, name)


def _guarded(method: Any, label: str, failed: Callable[[], int]) -> Any:
    def hook(*arguments: Any) -> None:
        try:
            method(*arguments)
        except Exception as error:  # noqa: BLE001  # a user's code can raise anything
            if failed() == 1:
                line = line_outside(error)
                what = f"{type(error).__name__}: {error}" + (f", {line}" if line else "")
                log.error(  # noqa: TRY400  # one line, not a page
                    "%s fails in `%s` (%s); it goes on without what it was to learn there, "
                    "and agent.counts.unheard counts how often.",
                    *(label, method.__name__, what),
                )

    return hook
