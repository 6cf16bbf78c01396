"""The loop as machine code: what the bridge to Numba is taught, and what it is given to compile."""

from typing import Any

import numpy as np

from tarry.arrays import FloatArray
from tarry.compiled.machine import CompiledLoop
from tarry.compiled.teach import admit_modules
from tarry.ledger import Ledger
from tarry.problems.world import World
from tarry.simulation.calendar import Calendar
from tarry.simulation.loop import Tape, run_steps


def enter_loop(
    rule: Any,
    ledger: Ledger,
    calendar: Calendar,
    world: World,
    gaps: FloatArray,
    tape: Tape,
    rng: np.random.Generator,
    last: int,
) -> None:
    """The loop as Python calls it.

    The loop counts no references. Here they are counted, once a call, so that what was handed in
    is given back.
    """
    run_steps(rule, ledger, calendar, world, gaps, tape, rng, last)


admit_modules("tarry.policies", "tarry.ledger", "tarry.problems.world", "tarry.simulation")
LOOP = CompiledLoop(enter_loop)
