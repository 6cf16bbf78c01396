"""How commands print: tables for people, JSON or CSV for programs, nothing else on stdout."""

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tarry.tables import csv_text, json_text, terminal_table


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")


def say_now(text: str) -> None:
    """Print a line that somebody waits for, through whatever pipe."""
    say(text)
    sys.stdout.flush()


def show_records(
    options: Namespace, records: Sequence[Mapping[str, Any]], for_people: Callable[[], None]
) -> None:
    """Print a table as --json or --csv asks, else as people read it."""
    if options.json:
        say(json_text(list(records)))
    elif options.csv:
        say(csv_text(records))
    else:
        for_people()


def show_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as wide as the terminal; the last two cells of a row share a column."""
    from rich.console import Console

    cells = [
        [*names, f"{text}\n{settings}" if settings else text] for *names, text, settings in rows
    ]
    columns = range(len(heads))
    Console(highlight=False).print(terminal_table(heads, cells, left=columns, wrap=columns[-1:]))
