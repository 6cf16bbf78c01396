"""A play has one answer: what is the same as it, and what to say of another one."""

from tarry.errors import ConflictError
from tarry.live.clock import to_seconds
from tarry.live.register import FAILED


def check_same_answer(
    play: int, known: int, before: int, delay: int | None, after: int, max_delay: int
) -> None:
    """Refuse an answer `delay` to the play with this id that differs from the `known` one.

    `before` and `after` are the statuses that the two answers give: returned or failed.
    """
    if delay is None or min(delay, max_delay) == known:
        return
    first = "failed" if before == FAILED else f"was told with delay {to_seconds(known):g} s"
    told = (
        f"with {to_seconds(delay):g} s" if before != FAILED else f"is told {to_seconds(delay):g} s"
    )
    second = "is said to have failed" if after == FAILED else told
    raise ConflictError(f"Play {play} {first} before and now {second}; a play has one answer.")
