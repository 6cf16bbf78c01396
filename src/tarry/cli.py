"""The command `tarry`: arguments and printing only."""

import argparse
from collections.abc import Sequence

from tarry._version import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments`, those of the process by default; return its status."""
    parser = argparse.ArgumentParser("tarry", description="Bandits that learn while they wait.")
    parser.add_argument("--version", action="version", version=f"tarry {__version__}")
    parser.parse_args(arguments)
    parser.print_help()
    return 0
