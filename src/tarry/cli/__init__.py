"""The command `tarry`: arguments and printing only."""

import os
import sys
from collections.abc import Sequence

from tarry.cli.in_options import in_options
from tarry.cli.parser import COMMANDS, build_parser
from tarry.errors import FileError, InputError, TarryError, UnknownNameError, WriteError

BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments`, those of the process by default; return its status.

    0: done; 1: something went wrong on the way; 2: what was asked for cannot be done;
    130: interrupted. An error is one sentence on stderr.
    """
    try:
        carry_out(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except KeyboardInterrupt as stop:
        return complain(str(stop) or "Interrupted.", INTERRUPTED)
    except TarryError as error:
        return complain(str(error), status_of(error))
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    return 0


def carry_out(arguments: list[str]) -> None:
    """Do what the arguments ask for, or show the help if they ask for nothing."""
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        raise UnknownNameError.of("command", arguments[0], COMMANDS)
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.run is None:
        parser.print_help()
        return
    try:
        options.run(options)
    except (TarryError, KeyboardInterrupt) as error:
        error.args = tuple(in_options(str(each), options) for each in error.args)
        raise


def status_of(error: TarryError) -> int:
    """Whether it was asked for what cannot be, with these arguments and files; else it failed."""
    asked = isinstance(error, InputError | FileError) and not isinstance(error, WriteError)
    return BAD_INPUT if asked else FAILURE


def complain(sentence: str, status: int) -> int:
    """Say what went wrong, in one sentence, and return the status."""
    sys.stderr.write(f"tarry: {sentence}\n")
    return status
