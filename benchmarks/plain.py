"""The simulators that a careful researcher would write in plain Python: quick, without a compiler.

Each is written for what its policy needs and no more: arrivals in buckets by due step (faster here
than a heap, since time is whole numbers), running totals per arm, plain lists, bounds computed once
per sweep and for active arms alone. Each plays exactly the arms that tarry plays; `python -m
benchmarks` checks this before it times anything.

Where the delays come from is their argument, with three choices:

* `drawn`: play by play from the problem and the seed, in plain Python, by the generator that tarry
  uses, since the trajectory must be the same. Most of the time goes into that generator.
* `in_blocks`: the same delays, but drawn ahead by NumPy. The quickest that draws its own delays.
* `ready`: handed over as a list of all steps and arms, made beforehand and not timed. It takes
  memory of size horizon x arms, and shows what is left when drawing costs nothing.
"""

import math
from collections.abc import Callable

import numpy as np

from tarry.problems.problem import Problem
from tarry.problems.world import draw_delays, philox

Draw = Callable[[int, int], int]  # the delay of (step, arm)
Bounds = Callable[[list[int], list[int], list[int], list[int]], tuple[list[float], list[float]]]


def drawn(problem: Problem, seed: int) -> Draw:
    """Delays drawn when they are asked for, with lists in place of arrays."""
    world = problem.world(seed)
    thresholds, pairs = (world.cells[:, k].tolist() for k in (0, 1))
    offsets = world.offsets.tolist()
    key0, key1 = world.key0, world.key1

    def draw(step: int, arm: int) -> int:
        w0, w1, w2, w3 = philox(step & 0xFFFFFFFF, step >> 32, arm, 0, key0, key1)
        first = offsets[arm]
        count = offsets[arm + 1] - first
        row = first + (((w0 << 32 | w1) * count) >> 64)
        pair: int = pairs[row]
        return pair & 0xFFFFFFFF if (w2 << 20 | w3 >> 12) < thresholds[row] else pair >> 32

    return draw


def in_blocks(problem: Problem, seed: int, size: int = 256) -> Draw:
    """Delays drawn by NumPy, many at once: an arm is expected to be played on at its last pace.

    In sweeps it is, until an arm is removed or a phase restarts; then its block is drawn anew.
    """
    world = problem.world(seed)
    blocks: list[dict[int, int]] = [{} for _ in range(problem.arms)]
    last = [0] * problem.arms

    def draw(step: int, arm: int) -> int:
        delay = blocks[arm].get(step)
        if delay is None:
            pace = step - last[arm] if last[arm] else problem.arms
            steps = np.arange(step, step + size * pace, pace)
            delays = draw_delays(world, steps, np.full(size, arm))
            blocks[arm] = dict(zip(steps.tolist(), delays.tolist(), strict=True))
            delay = blocks[arm][step]
        last[arm] = step
        return delay

    return draw


def ready(problem: Problem, seed: int, horizon: int) -> Draw:
    """Delays looked up in a list of rows that holds all of them."""
    steps = np.arange(1, horizon + 1)[:, None]
    rows = problem.delays(seed, steps, np.arange(problem.arms)).tolist()
    return lambda step, arm: rows[step - 1][arm]


def play_se(draw: Draw, arms: int, max_delay: int, horizon: int) -> list[int]:
    """SE for cost: the arms it plays."""
    log_term = math.log(horizon)

    def bounds(
        active: list[int], plays: list[int], seen: list[int], seen_sum: list[int]
    ) -> tuple[list[float], list[float]]:
        lower, upper = [], []
        for arm in active:
            count = seen[arm]
            if count:
                mean = seen_sum[arm] / (max_delay * count)
                width = math.sqrt(2.0 * log_term / count)
                lower.append(mean - width)
                upper.append(mean + width)
            else:
                lower.append(-math.inf)
                upper.append(math.inf)
        return lower, upper

    return _play_on_answers(draw, arms, max_delay, horizon, bounds)


def play_opse(draw: Draw, arms: int, max_delay: int, horizon: int) -> list[int]:
    """OPSE for cost: the arms it plays."""
    log_term = math.log(horizon)

    def bounds(
        active: list[int], plays: list[int], seen: list[int], seen_sum: list[int]
    ) -> tuple[list[float], list[float]]:
        lower, upper = [], []
        for arm in active:
            count = plays[arm]
            total = seen_sum[arm]
            width = math.sqrt(2.0 * log_term / count)
            whole = max_delay * count
            lower.append(total / whole - width)
            upper.append(((count - seen[arm]) * max_delay + total) / whole + width)
        return lower, upper

    return _play_on_answers(draw, arms, max_delay, horizon, bounds)


def _play_on_answers(
    draw: Draw, arms: int, max_delay: int, horizon: int, bounds: Bounds
) -> list[int]:
    """Sweeps with elimination for policies that look at plays and answers alone."""
    plays, seen, seen_sum = [0] * arms, [0] * arms, [0] * arms
    ring = max_delay + 1
    due: list[list[int]] = [[] for _ in range(ring)]  # arm, delay, arm, delay, ...
    active = list(range(arms))
    chosen: list[int] = []
    step = 1
    while True:
        for arm in active:
            if step > horizon:
                return chosen
            delay = draw(step, arm)
            chosen.append(arm)
            plays[arm] += 1
            due[(step + delay) % ring] += (arm, delay)
            arrivals = due[step % ring]
            if arrivals:
                for k in range(0, len(arrivals), 2):
                    seen[arrivals[k]] += 1
                    seen_sum[arrivals[k]] += arrivals[k + 1]
                arrivals.clear()
            step += 1
        lower, upper = bounds(active, plays, seen, seen_sum)
        bar = min(upper)
        active = [arm for arm, low in zip(active, lower, strict=True) if low <= bar]


def play_bdse(draw: Draw, arms: int, max_delay: int, horizon: int) -> list[int]:
    """BDSE: the arms it plays."""
    chosen: list[int] = []
    threshold = 1.0 / max_delay
    log_term = math.log(horizon)
    while len(chosen) < horizon:
        _play_cse(draw, arms, max_delay, horizon, threshold, log_term, chosen)
        threshold *= 2.0
        log_term = math.log(max(horizon - len(chosen), 2))
    return chosen


def _play_cse(
    draw: Draw,
    arms: int,
    max_delay: int,
    horizon: int,
    threshold: float,
    log_term: float,
    chosen: list[int],
) -> None:
    """One phase: plays until it fails or the horizon is reached, and appends to `chosen`."""
    plays, seen, seen_sum, start_sum = [0] * arms, [0] * arms, [0] * arms, [0] * arms
    complete, complete_sum = [0] * arms, [0] * arms
    ring = max_delay + 1
    due: list[list[int]] = [[] for _ in range(ring)]  # arm, delay, arm, delay, ...
    delays: list[int] = []
    active = list(range(arms))
    begin = step = len(chosen) + 1
    sqrt = math.sqrt
    double_log = 2.0 * log_term
    offset = 8.0 * log_term
    while active:
        for arm in active:
            if step > horizon:
                return
            delay = draw(step, arm)
            chosen.append(arm)
            plays[arm] += 1
            delays.append(delay)
            start_sum[arm] += step
            due[(step + delay) % ring] += (arm, delay)
            arrivals = due[step % ring]
            if arrivals:
                for k in range(0, len(arrivals), 2):
                    who, delay = arrivals[k], arrivals[k + 1]
                    seen[who] += 1
                    seen_sum[who] += delay
                    start_sum[who] -= step - delay
                arrivals.clear()
            step += 1
            old = step - max_delay
            if old >= begin:
                who = chosen[old - 1]
                complete[who] += 1
                complete_sum[who] += delays[old - begin]
        size = len(active)
        bar = threshold
        lower = []
        for arm in active:
            known = complete[arm] or 1
            mean = complete_sum[arm] / (max_delay * known)
            width = sqrt(double_log / known)
            count = plays[arm]
            missing = count - seen[arm]
            age = missing * step - start_sum[arm]
            lower.append(
                max(
                    (age + seen_sum[arm]) / (max_delay * count) - sqrt(double_log / count),
                    mean - width,
                    size / max_delay * (missing / 2 - offset - 1.0),
                )
            )
            bar = min(bar, mean + width)
        active = [arm for arm, low in zip(active, lower, strict=True) if low <= bar]
