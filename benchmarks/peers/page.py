"""The page docs/peers.md: the text of page.md around the tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.peers.report import Sheet


def page(
    regret: Sheet, features: Sheet, notes: Sequence[str], setting: Mapping[str, object]
) -> str:
    """The text of the page."""
    problems = "\n## What went wrong on the way\n\n" + "\n".join(f"- {note}" for note in notes)
    return (
        (Path(__file__).parent / "page.md")
        .read_text()
        .format(
            regret=regret.markdown(),
            features=features.markdown(),
            notes=problems + "\n" if notes else "",
            **setting,
        )
    )
