"""The command `tarry`: arguments and printing only."""

import os
import sys
from collections.abc import Sequence

from tarry.cli.parser import COMMANDS, build_parser
from tarry.errors import InputError, TarryError, UnknownNameError

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
    except InputError as error:
        return complain(str(error), BAD_INPUT)
    except TarryError as error:
        return complain(str(error), FAILURE)
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
    else:
        options.run(options)


def complain(sentence: str, status: int) -> int:
    """Say what went wrong, in one sentence, and return the status."""
    sys.stderr.write(f"tarry: {sentence}\n")
    return status
