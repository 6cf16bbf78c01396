"""One thread at a time is at the compiler, and no process is forked or ends meanwhile.

What one thread is still teaching the compiler, another must not yet use. A child that is forked
while some thread is at the compiler would inherit locks that nobody is left to open, and would
hang as soon as it compiles, or imports what was being imported: a fork waits for its turn. And a
process that ends under a compiler at work in some thread may crash, so the end waits as well.
"""

import atexit
import os
import sys
import threading

PATIENCE = 0.7  # seconds until something is said; loading from the cache is faster
turn = threading.RLock()  # whoever compiles may fork himself

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=turn.acquire, after_in_parent=turn.release, after_in_child=turn.release
    )


@atexit.register
def _last_turn() -> None:
    """Wait for what is being compiled, and let nobody begin anew."""
    if not turn.acquire(timeout=PATIENCE):
        sys.stderr.write("tarry: finishing machine code, which the next process will find ...\n")
        turn.acquire()
