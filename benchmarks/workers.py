"""Two workers against one, measured in one run: python -m benchmarks.workers."""

import argparse
import os
import time

import tarry
from tarry.experiments.compare import run_experiment
from tarry.reproduction.paper import Size, paper_experiment

TARGET = 1.7


def seconds(workers: int, size: Size) -> tuple[float, tarry.Result]:
    """How long the paper's cost experiment takes with so many threads."""
    experiment = paper_experiment("cost", size)
    begin = time.perf_counter()
    result = run_experiment(experiment, workers=workers, progress=False)
    return time.perf_counter() - begin, result


def main() -> int:
    """Measure in turns, so that other load falls on both, and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    size = Size(runs=options.runs, scales=(0.2,))
    seconds(2, size._replace(runs=1))  # compile
    times: dict[int, list[float]] = {1: [], 2: []}
    results = {}
    for _ in range(options.rounds):
        for workers, taken in times.items():
            spent, results[workers] = seconds(workers, size)
            taken.append(spent)
    assert results[1] == results[2]
    ratio = min(times[1]) / min(times[2])
    print(f"one worker {min(times[1]):.2f} s, two workers {min(times[2]):.2f} s, same result")
    print(f"two workers are {ratio:.2f} times as fast as one (target {TARGET})")
    print(f"load average {os.getloadavg()[0]:.1f}: other processes lower the ratio")
    return int(ratio < TARGET)


if __name__ == "__main__":
    raise SystemExit(main())
