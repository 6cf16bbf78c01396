"""Tables: rows with named fields, as text, as files and as data frames."""

import csv
import importlib
import io
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from tarry.errors import MissingExtraError

Row = TypeVar("Row", bound=tuple[Any, ...])


class Rows(Sequence[Row], Generic[Row]):
    """A sequence of rows (NamedTuples) that can be printed, written and made into a data frame.

    A subclass has a field or property `rows`, and `cells` for those who read it as text.
    """

    rows: Sequence[Row]

    def __getitem__(self, number: int) -> Row:  # type: ignore[override]  # rows only, no slices
        return self.rows[number]

    def __len__(self) -> int:
        return len(self.rows)

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """The heads and the rows as text."""
        raise NotImplementedError

    def records(self) -> list[dict[str, Any]]:
        """One dict per row."""
        return [row._asdict() for row in self.rows]  # type: ignore[attr-defined]  # NamedTuples

    def to_pandas(self) -> Any:
        """The rows as a pandas.DataFrame."""
        return data_frame("pandas", columns_of(self.records()))

    def to_polars(self) -> Any:
        """The rows as a polars.DataFrame."""
        return data_frame("polars", columns_of(self.records()))


def data_frame(library: str, content: Any) -> Any:
    """A DataFrame of "pandas" or "polars" with this content: columns by name, or an Arrow table."""
    try:
        module = importlib.import_module(library)
    except ModuleNotFoundError as error:
        raise MissingExtraError.of("A data frame", library, "tables") from error
    if isinstance(content, Mapping):
        return module.DataFrame(content)
    return content.to_pandas() if library == "pandas" else module.from_arrow(content)


def columns_of(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Records with the same keys, column by column."""
    return {name: [record[name] for record in records] for name in (records[0] if records else ())}


def csv_text(records: Sequence[Mapping[str, Any]]) -> str:
    """Records as CSV with a line of heads."""
    sink = io.StringIO()
    writer = csv.DictWriter(sink, list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return sink.getvalue().rstrip("\n")


def json_text(value: Any) -> str:
    """A value as JSON for people and programs; what is not a number is null."""
    return json.dumps(without_nan(value), indent=1, ensure_ascii=False, allow_nan=False)


def without_nan(value: Any) -> Any:
    """The same with None in place of NaN and of infinities, for which JSON has no word."""
    if isinstance(value, Mapping):
        return {str(key): without_nan(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(each) for each in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value


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


def counted(count: int, what: str) -> str:
    """1 play, 2 plays."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def number(value: float) -> str:
    """A number with about four digits, without exponents where people expect none."""
    if value != value:  # noqa: PLR0124  # nothing but NaN is unequal to itself
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.4g}"
