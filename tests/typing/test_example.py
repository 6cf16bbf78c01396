"""Types as a user meets them."""

import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parent / "example.py"


def test_typed_example_runs() -> None:
    """The program whose types mypy knows does what its types say."""
    steps, runs, told = runpy.run_path(str(EXAMPLE))["main"]()
    assert (steps, runs, told) == (100, 2, "returned")
