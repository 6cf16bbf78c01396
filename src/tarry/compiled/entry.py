"""Functions of ours as machine code that Python calls directly, for live use.

A dispatcher of Numba looks at the types of all arguments whenever it is called, which takes longer
than what is to be done when they are a rule and its evidence: dozens of arrays. Where the types are
the same at each call, its entry point for them can be called instead. It takes the arguments for
what they were said to be, so whoever calls it sees to that.

References are not counted, so nothing called here may make an array; and the lock of the
interpreter is kept, so a call is done at once as far as other threads can see.
"""

from collections.abc import Callable
from typing import Any

import numba

from tarry.compiled.inside import entry_of
from tarry.compiled.machine import compiled
from tarry.compiled.teach import UNCOUNTED, admit_value
from tarry.compiled.turns import turn

Function = Callable[..., Any]
_dispatchers: dict[Function, Any] = {}  # each keeps what was compiled or loaded of its function


def entry_point(function: Function, *examples: Any) -> Function:
    """`function` as machine code for arguments of the types of `examples`, kept on disk.

    The examples must be of no worth to anybody: where Numba has no entry point to give, they are
    what its dispatcher is called with, for the code to be there when it is needed.
    """
    with turn:
        if function not in _dispatchers:
            _dispatchers[function] = compiled(function, cached=True, **UNCOUNTED)
        dispatcher = _dispatchers[function]
        for example in examples:
            admit_value(example)
        enter = entry_of(dispatcher, tuple(map(numba.typeof, examples)))
        if enter is None:
            dispatcher(*examples)
            return dispatcher
        return enter
