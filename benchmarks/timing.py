"""Measuring several things side by side, so that they share whatever else the machine does."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent


def seconds(task: Callable[[], object]) -> float:
    """Processor time of one call, which other programs disturb less than time by the clock."""
    begin = time.process_time()
    task()
    return time.process_time() - begin


def fastest(
    tasks: Mapping[str, Callable[[], object]], rounds: int, budget: float = 6.0
) -> dict[str, float]:
    """The least time of each task over rounds that run all of them in turn.

    The minimum is what the task takes when nothing disturbs it. A task that has used up its budget
    of seconds sits out the remaining rounds, but takes part in at least two.
    """
    best = dict.fromkeys(tasks, float("inf"))
    spent = dict.fromkeys(tasks, 0.0)
    for turn in range(rounds):
        for name, task in tasks.items():
            if turn < 2 or spent[name] < budget:
                taken = seconds(task)
                spent[name] += taken
                best[name] = min(best[name], taken)
    return best


def fresh_process(code: str, environment: Mapping[str, str]) -> tuple[float, str]:
    """Seconds from starting a new interpreter to its first line of output, and that line."""
    begin = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        taken = time.perf_counter() - begin
    if process.returncode:
        raise RuntimeError(f"A measured process failed with status {process.returncode}: {code}")
    return taken, line.strip()
