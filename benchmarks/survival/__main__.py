"""Measure it all and print it, or write it into the documentation.

python -m benchmarks.survival            a quick look: few instances
python -m benchmarks.survival --full     20 fresh instances per setting, some minutes
python -m benchmarks.survival --write    the same, into docs/survival-measurements.md
"""

import argparse
from pathlib import Path

from benchmarks.survival import acceptance
from benchmarks.survival.coverage import coverage
from benchmarks.survival.design import design
from tarry.files import write_atomically

PAGE = Path(__file__).parents[2] / "docs" / "survival-measurements.md"


INTRODUCTION = """\
# Survival policies, measured

Written by `python -m benchmarks.survival --write`; do not edit. Mean regret at the horizon over
{count} fresh instances, in brackets the worst single run. How the policies work:
[Learning while plays are out](survival.md)."""
HARD = """\
Mean over both instances of a pair, {few} runs in all, T = 300 000. The lower bound is the exact one
for the pair from `tarry.theory`; that of "conservative elimination" binds only policies that play
both arms in turn, which ours do not."""
COVERAGE = """\
Each bound at a level of 10 %, at a fixed time, under play that depends on what came back: a long
answer makes the policy turn away for a while. In use the levels are far smaller."""


def page(count: int) -> str:
    """The whole page; less of what takes long."""
    few = max(2 * (count // 5), 2)
    parts = [
        INTRODUCTION.format(count=count),
        "## The paper's two families",
        "T = 150 000, K = 30, D = 5000; truncated normal at mean_scale 0.2.",
        acceptance.main_page(count),
        "## The paper's hard instances",
        HARD.format(few=few),
        acceptance.hard(few),
        "## Problems that look like real systems",
        "T = 50 000.",
        acceptance.realistic(count),
        "## Time per step",
        "T = 150 000, K = 30, D = 5000, all in one run.",
        acceptance.speed(),
        "## How the settings were chosen",
        f"{few} instances per column ({2 * few} of cdn and dwell).",
        design(few),
        "## How often a tight bound misses",
        COVERAGE,
        coverage(400 * count),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def main() -> None:
    """Read the arguments, measure, print or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="20 instances per setting")
    parser.add_argument("--write", action="store_true", help="write docs/survival-measurements.md")
    given = parser.parse_args()
    text = page(20 if given.full or given.write else 2)
    if given.write:
        write_atomically(PAGE, text.encode())
    else:
        print(text)


if __name__ == "__main__":
    main()
