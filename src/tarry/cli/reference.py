"""The reference of the command line as a page in Markdown: python -m tarry.cli.reference."""

import argparse
import sys
from collections.abc import Iterator

from tarry.cli.parser import COMMANDS, EXAMPLES, build_parser

HEAD = """# Command line

`tarry` prints results on standard output and progress on standard error. An error is one sentence.
The exit status is 0 when all went well, 1 when something failed on the way, 2 when what was asked
for cannot be done, and 130 after Ctrl-C.
"""


def reference() -> str:
    """The whole page, made from the parser, so that it cannot be out of date."""
    parser = build_parser()
    shown = EXAMPLES.partition("\n")[2].replace("  tarry", "    tarry")
    lines = [HEAD, shown]
    for name, command in commands_of(parser).items():
        lines += [f"## tarry {name}", "", f"{COMMANDS[name][0].upper()}{COMMANDS[name][1:]}.", ""]
        lines += [*argument_lines(command), ""]
    return "\n".join(lines).rstrip() + "\n"


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands by name."""
    for action in parser._actions:  # noqa: SLF001  # argparse has no public way to list them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  # the same
            return dict(action.choices)
    return {}


def argument_lines(command: argparse.ArgumentParser) -> Iterator[str]:
    """A definition for each argument of a command."""
    for action in command._actions:  # noqa: SLF001  # the same
        if action.dest == "help":
            continue
        value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
        name = action.option_strings[0] + value if action.option_strings else value.strip()
        many = " ..." if action.nargs == "*" else ""
        yield f"`{name}{many}`\n: {action.help}\n"


if __name__ == "__main__":
    sys.stdout.write(reference())
