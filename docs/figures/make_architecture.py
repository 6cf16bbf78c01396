"""Draw docs/figures/architecture.svg: the modules of tarry in layers, the highest first.

Run it with: python docs/figures/make_architecture.py
"""

from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

WIDTH, MARGIN, GAP, LINE = 760, 20, 12, 16


class Box(NamedTuple):
    """A module: its name, what it does, and the heavy packages that come in by it."""

    name: str
    what: tuple[str, ...]
    door: str = ""
    fill: str = "#fbf1dc"


BLUE, GREEN, GREY = "#e8eef7", "#e3f1e8", "#f1f1f1"
ROWS = [
    [Box("cli", ("arguments and printing only",), fill=BLUE)],
    [
        Box("reproduction", ("this paper: its", "claims and report"), fill=BLUE),
        Box("demo", ("an agent on real", "servers here"), fill=GREEN),
        Box("scenarios", ("routes that break,", "in virtual time"), fill=GREEN),
        Box("service", ("decisions over HTTP,", "and a client for it"), "starlette", GREEN),
    ],
    [
        Box(
            "experiments",
            ("comparisons, results on disk, figures;", "on threads or a Dask cluster"),
            "dask",
            BLUE,
        ),
        Box(
            "live",
            ("the same policies on wall-clock time:", "agent, stores, HTTP routes"),
            "sqlite3, httpx",
            GREEN,
        ),
    ],
    [
        Box("simulation", ("one loop, compiled or interpreted, to the same arms",), fill=BLUE),
        Box("logs", ("what was recorded elsewhere, with unfinished plays",), "pandas", GREEN),
    ],
    [Box("compiled", ("the bridge from plain Python to machine code, and its cache",), "numba")],
    [
        Box("policies", ("decision rules, one per file, and their driver:", "what is known when")),
        Box("theory", ("bounds, floors and the good event", "as functions of a problem")),
    ],
    [Box("problems", ("worlds: exact laws; a delay is a function of (seed, step, arm)",))],
    [
        Box("ledger", ("the evidence, as sums",)),
        Box("plays", ("the table: a play is a row",)),
        Box("randomness", ("a function of seed and play",)),
    ],
    [
        Box("checks", ("arguments at the border",), fill=GREY),
        Box("survival_curve", ("the one estimator",), fill=GREY),
        Box("drawing", ("figures to files",), "matplotlib", GREY),
    ],
    [
        Box("arrays", ("types, and roles in a rule",), fill=GREY),
        Box("errors", ("one tree of exceptions",), fill=GREY),
        Box("files", ("whole or not at all",), fill=GREY),
        Box("fingerprint", ("which sources these are",), fill=GREY),
    ],
    [
        Box("inspection", ("functions behind functions",), fill=GREY),
        Box("palette", ("colours",), fill=GREY),
        Box("tables", ("cells in columns",), fill=GREY),
    ],
]
STYLE = """<style>
text { font-family: system-ui, "DejaVu Sans", sans-serif; fill: #1b2430 }
.name { font-size: 15px; font-weight: 600 }
.what { font-size: 12px }
.door { font-size: 11px; font-style: italic; fill: #5a6472 }
</style>"""


def drawn(box: Box, x: int, y: int, width: int, height: int) -> list[str]:
    """One box."""
    size = f'width="{width}" height="{height}" rx="6"'
    parts = [
        f'<rect x="{x}" y="{y}" {size} fill="{box.fill}" stroke="#44546a"/>',
        f'<text x="{x + 14}" y="{y + 24}" class="name">{box.name}</text>',
    ]
    for line, text in enumerate(box.what):
        below = y + 43 + LINE * line
        parts.append(f'<text x="{x + 14}" y="{below}" class="what">{escape(text)}</text>')
    if box.door:
        parts.append(
            f'<text x="{x + width - 12}" y="{y + 24}" class="door" text-anchor="end">'
            f"{box.door}</text>"
        )
    return parts


def picture() -> str:
    """The whole picture."""
    parts: list[str] = []
    y = MARGIN
    for row in ROWS:
        height = 38 + LINE * max(len(box.what) for box in row)
        width = (WIDTH - 2 * MARGIN - GAP * (len(row) - 1)) // len(row)
        for place, box in enumerate(row):
            parts += drawn(box, MARGIN + place * (width + GAP), y, width, height)
        y += height + GAP
    height = y - GAP + MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-label="The modules of tarry in layers">'
    )
    back = f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>'
    return "\n".join([head, STYLE, back, *parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("architecture.svg").write_text(picture())
