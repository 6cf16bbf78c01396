"""What an agent says when it refuses, one sentence each."""

from pathlib import Path

from tarry.checks import shortened
from tarry.errors import ConflictError, InputError, JournalError, LiveError, UnknownPlayError
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


def no_lease() -> InputError:
    """A report where ages are measured."""
    return InputError(
        "This agent measures the ages of its plays, so nothing is to be reported; make it with "
        "lease=..., in seconds, to report them."
    )


def no_delay() -> InputError:
    """An end "just now" where ages are reported."""
    return InputError(
        "With a lease the age of a play is reported, not measured; give its delay, in seconds, as "
        "in tell(play, 12.5)."
    )


def unknown_play(number: object, asked: int) -> UnknownPlayError:
    """An id that was never given out."""
    many = f"{asked} play{'s' * (asked != 1)}, each with an id of its own"
    made = many if asked else "no plays yet"
    return UnknownPlayError(f"There is no play with id {number!r}; this agent made {made}.")


def unknown_to_all(play: object) -> UnknownPlayError:
    """An id that no process of an agent that many share has given out."""
    return UnknownPlayError(
        f"There is no play with id {play!r}; no process of this agent has given it out."
    )


def no_id(value: object) -> UnknownPlayError:
    """Something that cannot be the id of a play."""
    return UnknownPlayError(
        f"There is no play {shortened(value)}; give what `ask` returned, or its `id`, a whole "
        f"number."
    )


def no_open_arm() -> LiveError:
    """There is nothing to choose from."""
    return LiveError("No arm is open: all were removed or paused; add or resume one before asking.")


def stopped(policy: str) -> LiveError:
    """A policy chooses to stop."""
    return LiveError(
        f"{policy} has stopped: its `select` gave up and chose no arm; use a policy that goes on, "
        f"such as BDSE (cost) or BHSE (reward)."
    )


def forked(path: Path | None) -> JournalError:
    """A child of a fork uses the agent of its parent."""
    return JournalError(
        f"The journal {path} was opened before this process was forked, and belongs to the parent; "
        f"open an agent after the fork in each process, with a path of its own."
    )


def closed() -> LiveError:
    """A call comes after the close."""
    return LiveError("The agent is closed; make a new one, with the same path to go on.")


def in_the_middle(what: str) -> LiveError:
    """A call comes from within another one of the same thread."""
    return LiveError(
        f"The agent was {what} by a signal handler or a finaliser in the middle of another call of "
        f"the same thread; do that after the handler has returned."
    )


def no_features(context: object) -> InputError:
    """What to say of a context where none was announced."""
    return InputError(
        f"The context is {shortened(context)}, but this agent has no features; make one with "
        f"features={{...}}."
    )
