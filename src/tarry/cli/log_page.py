"""The page of `tarry log --html`: one file with the answer, the picture and the numbers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarry.cli.log_command import table_rows
from tarry.errors import WriteError
from tarry.files import write_atomically
from tarry.reproduction import page

if TYPE_CHECKING:
    from tarry.logs import Log
    from tarry.logs.decision import Decision

HOW = (
    "A play that was not finished counts with what is known of it: it lasted at least so long "
    "(the estimate of Kaplan and Meier). Means are those of times up to {limit:g}; what takes "
    "longer counts as that. Intervals hold for each arm by itself, also where there are few plays, "
    "provided that plays were not given up because of how they went. The band around a curve holds "
    "for each time by itself. The probability to be the best is a share of random draws, and not "
    "an error rate."
)


def write_page(
    path: Path, read: "Log", payoff: Any, decision: "Decision | None", title: str
) -> None:
    """Write the page whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, page_text(read, payoff, decision, title).encode())
    except OSError as error:
        why = error.strerror or error
        raise WriteError(f"The page {str(path)!r} cannot be written: {why}.") from error


def page_text(read: "Log", payoff: Any, decision: "Decision | None", title: str) -> str:
    """The page: what it says, the picture, the table, the differences, and how to read them."""
    heads, rows = table_rows(read, payoff)
    parts = [page.paragraph(decision.sentence)] if decision is not None else []
    sections = [
        page.Section("picture", "Who lasts how long", [picture(read)]),
        page.Section("arms", "The arms", [*parts, page.table(heads, rows)]),
        page.Section("differences", "Differences", [difference_table(read)]),
        page.Section("how", "How to read this", [page.paragraph(HOW.format(limit=read.max_delay))]),
    ]
    return page.document(title, [page.paragraph(read.summary(payoff), "lead")], sections)


def picture(read: "Log") -> str:
    """The curves and the means, in the colours of the page."""
    from tarry.drawing import rendered
    from tarry.logs.picture import log_figure

    drawing = rendered(log_figure(read), "svg", transparent=True).decode()
    caption = "The share of plays still going on after each time, and the mean times."
    return f'<div style="max-width: 34rem">{page.figure("log", drawing, caption)}</div>'


def difference_table(read: "Log") -> str:
    """Every pair of arms."""
    from tarry.logs.answers import difference_cells, interval_head, shown

    found = read.differences()
    rows = [[f"{shown(a)} against {shown(b)}", *difference_cells(d)] for (a, b), d in found.items()]
    return page.table(["arms", "difference", interval_head(found.level), "verdict"], rows)
