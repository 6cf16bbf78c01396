"""Randomised trials with known results, read as logs.

python -m benchmarks.trials FOLDER    with actg175.csv, colon_recurrence.csv, colon_death.csv and
                                      veteran.csv: columns arm, time and event

The data are not part of this project. ACTG 175 (Hammer and others 1996) is in the Python package
lifelines (`lifelines/datasets`); the colon cancer trial (Moertel and others 1990) and the veterans'
lung cancer trial (Kalbfleisch and Prentice 1980) are in the R package survival. Name the arm column
`arm` and the one that is 1 where the event was seen `event`.
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

import tarry
from tarry.errors import TarryError


class Trial(NamedTuple):
    """A trial: up to when it is read, and what was published about it."""

    max_delay: int
    known: str  # in words
    best: tuple[str, ...]  # arms that may come first
    clear: tuple[tuple[str, str], ...]  # pairs of which the first was clearly longer
    unclear: tuple[tuple[str, str], ...] = ()


TRIALS = {
    "actg175": Trial(
        1000,
        "all three newer treatments did better than zidovudine alone (Hammer and others 1996)",
        ("zidovudine+didanosine", "zidovudine+zalcitabine", "didanosine"),
        (
            ("zidovudine+didanosine", "zidovudine"),
            ("zidovudine+zalcitabine", "zidovudine"),
            ("didanosine", "zidovudine"),
        ),
        (("zidovudine+didanosine", "zidovudine+zalcitabine"),),
    ),
    "colon_recurrence": Trial(
        2000,
        "levamisole with fluorouracil delayed recurrence, levamisole alone did not (Moertel 1990)",
        ("Lev+5FU",),
        (("Lev+5FU", "Obs"), ("Lev+5FU", "Lev")),
        (("Lev", "Obs"),),
    ),
    "colon_death": Trial(
        2000,
        "the combination also prolonged survival, levamisole alone did not (Moertel 1990)",
        ("Lev+5FU",),
        (("Lev+5FU", "Obs"), ("Lev+5FU", "Lev")),
        (("Lev", "Obs"),),
    ),
    "veteran": Trial(
        365,
        "no clear difference between the treatments (Kalbfleisch and Prentice 1980)",
        ("standard", "test"),
        (),
        (("standard", "test"),),
    ),
}


def check_trial(name: str, path: Path) -> list[str]:
    """Print what the log says; return what disagrees with what is known."""
    trial = TRIALS[name]
    log = tarry.Log.read(path, arm="arm", time="time", finished="event", max_delay=trial.max_delay)
    best, differences = log.best("reward"), log.differences()
    print(f"\n{name}, up to {trial.max_delay} days. Known: {trial.known}.")
    print(log.means())
    print(differences)
    print(log.summary("reward"))
    print(log.decide("reward").sentence)
    wrong = [] if best.arm in trial.best else [f"{name}: {best.arm} comes first"]
    wrong += [
        f"{name}: {a} is not clearly longer than {b}"
        for a, b in trial.clear
        if differences[a, b].low <= 0
    ]
    wrong += [
        f"{name}: {a} differs clearly from {b}" for a, b in trial.unclear if differences[a, b].clear
    ]
    return wrong


def main() -> int:
    """Read the folder; the status is 1 if something disagrees."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the files are")
    folder: Path = parser.parse_args().folder
    found = {name: folder / f"{name}.csv" for name in TRIALS if (folder / f"{name}.csv").is_file()}
    if not found:
        expected = ", ".join(f"{name}.csv" for name in TRIALS)
        print(f"There is no trial in {str(folder)!r}; expected are {expected}.", file=sys.stderr)
        return 2
    try:
        wrong = [line for name, path in found.items() for line in check_trial(name, path)]
    except TarryError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n" + ("\n".join(wrong) or "Everything agrees with what is known of these trials."))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
