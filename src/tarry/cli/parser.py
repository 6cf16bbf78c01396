"""The parser of the command line: which commands there are, and how it refuses what it is given."""

import argparse
from typing import NoReturn

from tarry._version import __version__
from tarry.cli import arguments

COMMANDS: dict[str, str] = {
    "reproduce": "run the experiments of the paper, draw the figures, write the report",
    "compare": "let policies play a problem, and compare their regret",
    "scaling": "how regret grows with D, d*, K and T; print the fitted slopes",
    "log": "read measured times and say which option is best, and how sure that is",
    "policies": "list the policies and their settings",
    "problems": "list the families of problems, or show one",
    "report": "write the report anew from results on disk",
    "demo": "watch an agent choose among live servers",
    "serve": "serve decisions over HTTP, with a dashboard and a script for pages",
    "key": "make a key for tarry serve; it is printed once, and only its hash is kept",
}
EXAMPLES = """examples:
  tarry reproduce --quick
  tarry compare BDSE "BDSE(keep_history=True)" OPSE --problem bernoulli --arms 30
  tarry compare --file experiment.toml --out results/mine
  tarry scaling cost-max-delay
  tarry log visits.csv --arm variant --time seconds --finished done --max-delay 600 --payoff reward
"""


class Parser(argparse.ArgumentParser):
    """A parser whose complaint is one sentence, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Refuse; "argument --runs: is 'x'" becomes "--runs is 'x'"."""
        text = message.removeprefix("argument ").replace(": ", " ", 1)
        text = f"{text[0].upper()}{text[1:]}".rstrip(".")
        self.exit(2, f"tarry: {text}; '{self.prog} --help' shows what there is.\n")


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = Parser(
        "tarry",
        description="Bandits that learn while they wait.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tarry {__version__}")
    parser.set_defaults(run=None)
    added = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, add in (
        ("reproduce", arguments.add_reproduce),
        ("compare", arguments.add_compare),
        ("scaling", arguments.add_scaling),
        ("log", arguments.add_log),
        ("policies", arguments.add_policies),
        ("problems", arguments.add_problems),
        ("report", arguments.add_report),
        ("demo", arguments.add_demo),
        ("serve", arguments.add_serve),
        ("key", arguments.add_key),
    ):
        text = COMMANDS[name]
        command = added.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        command.set_defaults(run=add(command))
    return parser
