"""The files of a folder with results: its description, and tables with facts about them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tarry.errors import OtherExperimentError, ResultsError, WriteError
from tarry.experiments.experiment import FORMAT, key_of
from tarry.experiments.whats_different import differences
from tarry.files import write_atomically

DESCRIPTION = "experiment.json"
WORDS = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [
        ("problem", WORDS),
        ("policy", WORDS),
        ("run", pa.int32()),
        ("problem_seed", pa.uint32()),
        ("play_seed", pa.uint64()),
        ("world", WORDS),  # fingerprint of the instance
        ("step", pa.int64()),
        ("regret", pa.float64()),  # cumulative pseudo-regret
        ("arm", pa.int32()),
        ("delay", pa.int32()),
        ("restarts", pa.int32()),  # so far
    ]
)


def with_facts(facts: Mapping[str, Any]) -> pa.Schema:
    """The schema with facts about the table as its metadata."""
    return SCHEMA.with_metadata({"tarry": json.dumps(facts, sort_keys=True)})


def table_bytes(table: pa.Table) -> bytes:
    """A table as a Parquet file with checksums."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    return bytes(sink.getvalue())


def read_table(path: Path) -> tuple[pa.Table, dict[str, Any]]:
    """A table of ours and the facts about it."""
    try:
        table = pq.read_table(path, page_checksum_verification=True, partitioning=None)
        facts = dict(json.loads(table.schema.metadata[b"tarry"]))
        return table.select(SCHEMA.names).cast(SCHEMA), facts
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        raise damaged_file(path, error) from error


def damaged_file(path: Path, error: Exception) -> ResultsError:
    """The one sentence about a file that cannot be read."""
    reason = str(error).splitlines()[0].rstrip(". ") if str(error) else type(error).__name__
    return ResultsError(f"{str(path)!r} is damaged or not a results file of tarry ({reason}).")


def write_description(folder: Path, description: Mapping[str, Any]) -> None:
    """Make the folder that of this experiment; refuse if it is that of another."""
    there = read_description(folder)
    if there is not None and key_of(there) != key_of(description):
        alike = key_of({**there, "versions": description["versions"]}) == key_of(description)
        what = "this experiment by another version of tarry" if alike else "another experiment"
        raise OtherExperimentError(
            f"The folder {str(folder)!r} holds {what} ({differences(there, description)}); "
            f"choose another folder, or remove this one."
        )
    if there is None or there["runs"] < description["runs"]:
        text = json.dumps(description, indent=1)
        write_file(folder / DESCRIPTION, text.encode())


def read_description(folder: Path) -> dict[str, Any] | None:
    """The description in a folder, or None where there is none."""
    path = folder / DESCRIPTION
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise damaged_file(path, error) from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ResultsError(f"{str(path)!r} does not describe an experiment of this tarry.")
    return description


def write_file(path: Path, content: bytes, comfort: str = "") -> None:
    """Write a file whole or not at all, making its folder if need be; `comfort` ends the error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    except OSError as error:
        raise WriteError(
            f"{str(path)!r} cannot be written: {error.strerror or error}{comfort}."
        ) from error
