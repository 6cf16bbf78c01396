"""Tables as text: cells in columns, and numbers as people write them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any


def aligned(lines: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> Iterator[str]:
    """Lines of cells as text in columns; those with numbers in `left` to the left."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def terminal_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: Collection[int] = (0,),
    wrap: Collection[int] = (),
    title: str | None = None,
    caption: str | None = None,
) -> Any:
    """A table of rich, as wide as the terminal; only the columns in `wrap` may be broken."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, caption=caption)
    for place, head in enumerate(heads):
        justify = "left" if place in left else "right"
        table.add_column(Text(head), justify=justify, no_wrap=place not in wrap)  # type: ignore[arg-type]  # one of rich's words
    for row in rows:
        table.add_row(*map(Text, row))  # as it is: brackets are no markup here
    return table


def markdown_table(heads: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def number(value: float) -> str:
    """A number with about four digits, without exponents where people expect none."""
    if value != value:  # noqa: PLR0124  # nothing but NaN is unequal to itself
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.4g}"
