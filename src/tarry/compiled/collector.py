"""The garbage collector, while many objects come in that stay for good.

A compiler and what it knows are some hundred thousand objects. As they are loaded, Python's
collector would look at all objects of the program several times over, and once more some time
later, and everybody waits for each of these looks. None of the new objects is garbage.
"""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

FEW = 260_000  # blocks of memory, some 60 000 objects: looked at in some ten milliseconds


@contextmanager
def at_rest() -> Iterator[None]:
    """Nothing is collected in here, for a second or so; what is there afterwards counts as old.

    Objects of the program that became garbage meanwhile are found by its next full collection. One
    that is due soon comes before, where there is little to look at yet. Where the program has
    switched its collector off, or has frozen objects, it is left as it is.
    """
    if not gc.isenabled() or gc.get_freeze_count():
        yield
        return
    # Not len(gc.get_objects()): a list of all objects has those that other threads are making just
    # now, and a tuple that somebody else has a hold of can't be completed (SystemError, there).
    if sys.getallocatedblocks() < FEW:
        gc.collect()
    _resting.append(True)
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # from all generations, without looking at anything,
        gc.unfreeze()  # to the oldest
        gc.enable()
        _resting.pop()


_resting: list[bool] = []  # not empty while the collector is at rest


def _in_child() -> None:
    """The thread that would end the rest is not there after a fork."""
    if _resting:
        _resting.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
