"""How often the intervals of a log hold, and what it costs to look at every play.

python -m benchmarks.log_coverage            a quick look: few repetitions
python -m benchmarks.log_coverage --write    1000 repetitions, into docs/log-coverage.md
"""

import argparse
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.progress import track

from tarry.arrays import FloatArray
from tarry.files import write_atomically
from tarry.logs.anytime import anytime_limits, capital
from tarry.logs.confidence import mean_draws, quantiles
from tarry.survival_curve import kaplan_meier
from tarry.tables import markdown_table

PAGE = Path(__file__).parents[1] / "docs" / "log-coverage.md"
LIMIT = 100.0
COUNTS = (5, 10, 20, 50, 200)
DRAWS = 1000
UNSEEN = "nobody watched beyond D/2"
OURS, USUAL = "these intervals", "the usual ones"
USUAL_AT_BEST = "the usual ones, where some were watched up to D"
Draw = Callable[[np.random.Generator, int], FloatArray]


def coin(share: float) -> Draw:
    """0 or D."""
    return lambda rng, n: np.where(rng.random(n) < share, LIMIT, 0.0)


def bimodal(rng: np.random.Generator, n: int) -> FloatArray:
    """Six in ten leave at once, the others stay almost to the end."""
    return np.where(rng.random(n) < 0.6, rng.uniform(0, 10, n), rng.uniform(80, 100, n))


def near_the_end(rng: np.random.Generator, n: int) -> FloatArray:
    """Nine in ten last almost or quite up to D, one in ten ends at any time."""
    late = np.minimum(rng.uniform(95, 105, n), LIMIT)
    return np.where(rng.random(n) < 0.1, rng.uniform(0, 100, n), late)


LAWS: dict[str, Draw] = {
    "0 or D, even chances": coin(0.5),
    "D once in ten": coin(0.1),
    "D once in twenty, else short": lambda rng, n: np.where(
        rng.random(n) < 0.05, LIMIT, rng.uniform(0, 5, n)
    ),
    "exponential, mean 20": lambda rng, n: np.minimum(rng.exponential(20, n), LIMIT),
    "exponential, mean 100, cut at D": lambda rng, n: np.minimum(rng.exponential(100, n), LIMIT),
    "evenly spread": lambda rng, n: rng.uniform(0, LIMIT, n),
    "two humps": bimodal,
    "always 30": lambda _rng, n: np.full(n, 30.0),
    "mostly near D": near_the_end,
}
AGES: dict[str, Draw] = {
    "all finished": lambda _rng, n: np.full(n, np.inf),
    "ages even on 0..2D": lambda rng, n: rng.uniform(0, 2 * LIMIT, n),
    "three in ten given up early": lambda rng, n: np.where(
        rng.random(n) < 0.3, rng.uniform(0, LIMIT / 2, n), np.inf
    ),
    UNSEEN: lambda rng, n: rng.uniform(0, LIMIT / 2, n),
}


def plays(law: Draw, ages: Draw, rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """Times and whether they are finished, as a log has them."""
    delays, watched = law(rng, n), ages(rng, n)
    times = np.minimum(np.minimum(delays, watched), LIMIT)
    return times, (delays <= watched) | (times >= LIMIT)


def truth(law: Draw) -> float:
    """The mean, by five million draws: its error is below 0.02."""
    return float(law(np.random.default_rng(0), 5_000_000).mean())


def usual(times: FloatArray, finished: FloatArray) -> tuple[float, float]:
    """The textbook interval: 1.96 standard errors by Greenwood's formula to each side."""
    curve = kaplan_meier(times, finished)
    mean = curve.restricted_mean(LIMIT)
    reach = 1.96 * math.sqrt(curve.restricted_variance(LIMIT))
    return mean - reach, mean + reach


def holds(limits: tuple[float, float], mean: float) -> bool:
    """Whether the truth lies within, but for its own error."""
    return limits[0] <= mean + 0.02 and limits[1] >= mean - 0.02


def coverage(repetitions: int) -> tuple[str, str, float]:
    """A table of our intervals, one of the worst cases of both, and our worst case."""
    rows = []
    worst = {kind: [100.0] * len(COUNTS) for kind in (OURS, USUAL, USUAL_AT_BEST)}
    for number, (name, law) in enumerate(track(LAWS.items(), "intervals of a mean")):
        mean = truth(law)
        for kind, ages in AGES.items():
            cells = []
            for k, count in enumerate(COUNTS):
                rng = np.random.default_rng([count, number])
                hits = other = 0
                width = 0.0
                for repetition in range(repetitions if count < 200 else repetitions // 2):
                    times, finished = plays(law, ages, rng, count)
                    limits = mean_draws(times, finished, LIMIT, [repetition], DRAWS).limits(0.95)
                    hits += holds(limits, mean)
                    other += holds(usual(times, finished), mean)
                    width += limits[1] - limits[0]
                done = repetition + 1
                cells.append(f"{100 * hits / done:.1f} ({width / done:.0f})")
                usual_share = 100 * other / done
                fair = usual_share if kind != UNSEEN else 100.0
                for which, share in (
                    (OURS, 100 * hits / done),
                    (USUAL, usual_share),
                    (USUAL_AT_BEST, fair),
                ):
                    worst[which][k] = min(worst[which][k], share)
            rows.append([name, kind, *cells])
    heads = [f"{count} plays" for count in COUNTS]
    table = markdown_table(["law", "watched", *heads], rows)
    summary = [[which, *(f"{share:.1f}" for share in shares)] for which, shares in worst.items()]
    least = min(worst[OURS])
    return table, markdown_table(["least share that holds, %", *heads], summary), least


def difference_coverage(repetitions: int) -> str:
    """How often the interval of a difference holds, for pairs of laws and of counts."""
    pairs = [
        ("D once in ten", "exponential, mean 20"),
        ("two humps", "evenly spread"),
        ("exponential, mean 20", "exponential, mean 100, cut at D"),
        ("mostly near D", "mostly near D"),
    ]
    counts = [(5, 5), (5, 50), (20, 20), (50, 50)]
    rows = []
    for a, b in track(pairs, "intervals of a difference"):
        gap = truth(LAWS[a]) - truth(LAWS[b])
        cells = []
        for many in counts:
            rng = np.random.default_rng(many)
            hits = 0
            for repetition in range(repetitions):
                one, two = (
                    mean_draws(*plays(LAWS[law], ages, rng, n), LIMIT, [repetition, place], DRAWS)
                    for place, (law, n, ages) in enumerate(
                        zip((a, b), many, [*AGES.values()][1:3], strict=True)
                    )
                )
                hits += holds(quantiles(one.low - two.high, one.high - two.low, 0.95), gap)
            cells.append(f"{100 * hits / repetitions:.1f}")
        rows.append([a, b, *cells])
    return markdown_table(["law", "minus", *(f"{m} and {n} plays" for m, n in counts)], rows)


def calibration(repetitions: int) -> str:
    """How often the arm with a given probability to be the best is the best, over random arms."""
    edges = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.001]
    right, asked = np.zeros(len(edges)), np.zeros(len(edges))
    rng = np.random.default_rng(77)
    for repetition in track(range(repetitions * 2), "probability to be the best"):
        means = rng.uniform(10, 60, 2)
        count = int(rng.choice([5, 20, 50]))
        draws = []
        for place, mean in enumerate(means):
            delays = np.minimum(rng.exponential(mean, count), LIMIT)
            ages = rng.uniform(0, 2 * LIMIT, count)
            times = np.minimum(delays, ages)
            done = (delays <= ages) | (times >= LIMIT)
            draws.append(mean_draws(times, done, LIMIT, [repetition, place], DRAWS).between)
        chance = float((draws[0] > draws[1]).mean())
        said = max(chance, 1 - chance)
        place = int(np.searchsorted(edges, said, "right")) - 1
        asked[place] += 1
        right[place] += (chance > 0.5) == (means[0] > means[1])
    rows = [
        [f"{100 * low:.0f} to {100 * min(high, 1):.0f} %", int(n), f"{100 * r / max(n, 1):.0f} %"]
        for low, high, n, r in zip(edges, edges[1:], asked, right, strict=False)
    ]
    return markdown_table(["probability said", "cases", "it was the best"], rows)


def every_look(repetitions: int, most: int = 2000, miss: float = 0.05) -> str:
    """How often limits for every look ever miss, and how wide they are against a single look."""
    rows = []
    for name, law in track(LAWS.items(), "limits for every look"):
        mean = truth(law)
        rng = np.random.default_rng(5)
        missed = 0
        ratios = []
        for repetition in range(repetitions):
            values = law(rng, most) / LIMIT
            starts = np.arange(most)
            low = capital(values * LIMIT / (mean + 0.02) - 1.0, starts)
            high = capital((1.0 - values) * LIMIT / (LIMIT - mean + 0.02) - 1.0, starts)
            missed += max(low, high) >= 2.0 / (0.75 * miss)
            if repetition < 20 and values.std() > 1e-9:
                ends = anytime_limits(values * LIMIT, np.ones(most, bool), LIMIT, miss)
                ratios.append((ends[1] - ends[0]) / (3.92 * LIMIT * values.std() / most**0.5))
        wide = f"{np.median(ratios):.2f}" if ratios else "-"
        rows.append([name, f"{100 * missed / repetitions:.1f} %", wide])
    heads = ["law", f"ever missed within {most} plays", "width against one look"]
    return markdown_table(heads, rows)


TEXT = """\
# Intervals of a log, measured

Written by `python -m benchmarks.log_coverage --write`; do not edit. D is 100.
How the intervals are made: [From a log to an answer](logs.md).

## Means

In how many of {many} logs ({half} with 200 plays) the interval of 95 % holds the mean of the law,
in per cent, and in brackets its mean width. The standard error of a share near 95 is {error:.1f}.
The method has no settings that could have been tuned, and no other was tried.

{table}

The least of every column, next to the textbook interval (1.96 standard errors by Greenwood's
formula), which knows nothing of what it has not seen:

{worst}

The intervals are wider than they need to be for a well-behaved law. That is the price of holding
for all of them: five plays that all took 30 do not show that a sixth cannot take 100.

## Differences

The same for the difference of two arms; the ages of the first are even on 0..2D, three in ten of
the second are given up early.

{differences}

## Probability to be the best

Two arms with exponential laws whose means are drawn evenly from 10..60; 5, 20 or 50 plays each,
ages even on 0..2D.

{calibration}

## Every look

Limits that may be looked at after every play, with an error rate of 5 %: how often they were ever
wrong within {most} plays, and how wide they are next to an interval for one look at the end.

{looks}
"""


def page(repetitions: int) -> str:
    """The whole page."""
    table, worst, least = coverage(repetitions)
    assert least >= 93.0 - 500 * math.sqrt(0.05 * 0.95 / repetitions)
    return TEXT.format(
        many=repetitions,
        half=repetitions // 2,
        error=100 * math.sqrt(0.05 * 0.95 / repetitions),
        table=table,
        worst=worst,
        differences=difference_coverage(repetitions),
        calibration=calibration(repetitions),
        looks=every_look(repetitions),
        most=2000,
    )


def main() -> None:
    """Read the arguments, measure, print or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/log-coverage.md")
    given = parser.parse_args()
    text = page(1000 if given.write else 60)
    if given.write:
        write_atomically(PAGE, text.encode())
    else:
        print(text)


if __name__ == "__main__":
    main()
