"""How soon a process simulates, and what a long horizon takes, each in processes of its own."""

import os
import tempfile
from typing import NamedTuple

from benchmarks.timing import fresh_process

SIMULATE = """
import time
import tarry
problem = tarry.problems.bernoulli(30, 5000, seed=7)
tarry.play(tarry.SE(), problem, payoff="cost", horizon=1000,
           progress=lambda done, of: print(time.process_time(), flush=True))
"""

IMPORT = """
import time
begin = time.perf_counter()
import tarry
print(time.perf_counter() - begin)
"""

# The kernel's mark of the most memory this program ever held, in KiB. (What getrusage tells is
# inherited from the process that started this one.)
HELD = """
from pathlib import Path
def held():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])
"""

PEAK = """
import tarry
problem = tarry.problems.bernoulli(30, 5000, seed=7)
tarry.play(tarry.SE(), problem, payoff="cost", horizon={horizon}, record=1000)
print(held())
"""

BEGIN = """
import time, tarry
class Enough(Exception): pass
begun = []
def look(done, horizon):
    begun.append((time.perf_counter(), done))
    if len(begun) == 10: raise Enough
problem = tarry.problems.bernoulli(30, 5000, seed=7)
try:
    tarry.play(tarry.SE(), problem, payoff="cost", horizon={horizon}, record=1000, progress=look)
except Enough:
    (t0, s0), (t1, s1) = begun[0], begun[-1]
    print({horizon} * (t1 - t0) / (s1 - s0), held())
"""


class Starts(NamedTuple):
    """Seconds from the start of a process to its first steps, and of an import."""

    cold: float  # nothing compiled yet
    warm: float  # machine code on disk
    warm_work: float  # the same in processor time, as on a machine with nothing else to do
    imported: float  # `import tarry` alone


class Long(NamedTuple):
    """Peak memory of whole processes, in MiB."""

    short: float  # T = 10^6
    long: float  # T = 10^8
    longest: float  # ten pieces of T = 10^9
    estimate: float  # seconds for all of T = 10^9


def measure_starts(repeats: int) -> Starts:
    """The first process with an empty cache is cold, the others are warm."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        cold, _ = fresh_process(SIMULATE, environment)
        warm = [fresh_process(SIMULATE, environment) for _ in range(repeats)]
    imported = min(float(fresh_process(IMPORT, os.environ)[1]) for _ in range(repeats))
    return Starts(
        cold=cold,
        warm=min(wall for wall, _ in warm),
        warm_work=min(float(work) for _, work in warm),
        imported=imported,
    )


def measure_long(longest: int = 10**8) -> Long:
    """Runs of 10^6 and `longest` steps to their end, and the first pieces of 10^9.

    All find their machine code on disk, for compiling takes memory too.
    """
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        fresh_process(SIMULATE, environment)

        def told(code: str, horizon: int) -> list[float]:
            line = fresh_process(HELD + code.format(horizon=horizon), environment)[1]
            return [float(number) for number in line.split()]

        (short,) = told(PEAK, 10**6)
        (long,) = told(PEAK, longest)
        estimate, begun = told(BEGIN, 10**9)
    return Long(short / 1024, long / 1024, begun / 1024, estimate)
