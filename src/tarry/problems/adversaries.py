"""Worlds without a law: tables that an adversary wrote down before the first step.

The adversary is *oblivious*: the delay of each arm in each step is fixed, whatever is played. What
counts is then regret against the best fixed arm in hindsight, `tarry.theory.hindsight_regret`.
"""

from typing import Literal

import numpy as np

from tarry.arrays import IntArray
from tarry.checks import check_memory, check_whole
from tarry.errors import UnknownNameError
from tarry.problems.delays import check_max_delay
from tarry.problems.recorded import Replay, replay

Tactic = Literal["swap", "slow leader", "random"]
TACTICS = ("swap", "slow leader", "random")
PIECES = 10  # swap: how often another arm becomes the best one
CELL_BYTES = 40  # of a table while it is made: shares, noise, their sum, delays
BLOCKS = 50  # slow leader: how often the adversary looks who leads


def adversary(
    tactic: Tactic, *, arms: int = 5, max_delay: int = 100, horizon: int = 20_000, seed: int = 0
) -> Replay:
    """A table of `horizon` steps that is made to mislead.

    swap: ten pieces of equal length. In each another arm is the quickest (a fifth of D on average,
        the others three fifths): arm 1 in every second piece, the others in turn, arm 0 first. So
        arm 1 is the best in hindsight, and not the one that leads in the beginning.
    slow leader: 50 blocks. In each the arm with the least total delay so far takes about nine
        tenths of D, the others about a tenth: whoever follows the past is always wrong.
    random: delays that are uniform on 0..D for all arms, drawn once. Nothing can be learnt; the
        best fixed arm is known in hindsight only.

    Delays are spread by +- a tenth of D, and `seed` draws them.

    >>> adversary("swap", arms=3, max_delay=20, horizon=1000, seed=1)
    <Problem adversary(swap, seed=1): 3 arms, max_delay 20>
    """
    if tactic not in TACTICS:
        raise UnknownNameError.of("tactic of an adversary", tactic, TACTICS)
    size = check_whole("number of arms", arms, 1)
    most = check_max_delay(max_delay)
    steps = check_whole("horizon", horizon, 1)
    told = f"A table of {steps} steps and {size} arms"
    check_memory(CELL_BYTES * steps * size, told, "a shorter horizon or fewer arms")
    rng = np.random.default_rng(check_whole("seed", seed, 0))
    if tactic == "random":
        table = rng.integers(0, most + 1, (steps, size))
    else:
        share = swapped(steps, size) if tactic == "swap" else slowed(steps, size)
        noise = rng.uniform(-0.1, 0.1, (steps, size))
        table = np.rint(most * (share + noise)).astype(np.int64)
    found = replay(np.clip(table, 0, most), most)
    object.__setattr__(found, "label", f"adversary({tactic}, seed={seed})")
    return found


def swapped(steps: int, arms: int) -> IntArray:
    """Mean delays over D, step by step: who is quick changes from piece to piece."""
    pieces = np.arange(steps) * PIECES // steps
    others = [arm for arm in range(arms) if arm != 1]
    quick = np.where(pieces % 2 == 1, min(1, arms - 1), np.take(others, pieces // 2, mode="wrap"))
    share = np.full((steps, arms), 0.6)
    share[np.arange(steps), quick] = 0.2
    return share


def slowed(steps: int, arms: int) -> IntArray:
    """Likewise: who has been quickest so far is slow in the next block."""
    share = np.full((steps, arms), 0.1)
    totals = np.zeros(arms)
    for block in range(BLOCKS):
        part = slice(block * steps // BLOCKS, (block + 1) * steps // BLOCKS)
        share[part, int(np.argmin(totals))] = 0.9
        totals += share[part].sum(axis=0)
    return share
