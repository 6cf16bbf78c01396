"""The loop as machine code: what the bridge to Numba is taught, and what it is given to compile."""

from typing import Any

from tarry.arrays import FloatArray
from tarry.compiled.machine import CompiledLoop
from tarry.compiled.teach import admit_modules, never_inline
from tarry.ledger import Ledger
from tarry.plays import Plays, SteadyAges
from tarry.problems.world import AnyWorld
from tarry.randomness import RARE, Random
from tarry.simulation.calendar import Calendar
from tarry.simulation.loop import Tape, run_steps


def enter_loop(
    rule: Any,
    ledger: Ledger,
    plays: Plays,
    ages: SteadyAges,
    calendar: Calendar,
    world: AnyWorld,
    gaps: FloatArray,
    tape: Tape,
    rng: Random,
    last: int,
) -> None:
    """The loop as Python calls it.

    The loop counts no references. Here they are counted, once a call, so that what was handed in
    is given back.
    """
    run_steps(rule, ledger, plays, ages, calendar, world, gaps, tape, rng, last)


never_inline(*RARE)
admit_modules(
    *("tarry.policies", "tarry.ledger", "tarry.plays", "tarry.randomness"),
    *("tarry.problems.world", "tarry.problems.context_world", "tarry.problems.changing_world"),
    "tarry.simulation",
)
LOOP = CompiledLoop(enter_loop)
