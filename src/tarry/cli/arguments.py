"""The arguments of each command, with their help; and the function that carries it out."""

import argparse
from collections.abc import Callable
from typing import Any

from tarry.checks import as_whole
from tarry.cli import commands, log_command

Command = Callable[[Any], None]


def whole(text: str) -> int:
    """A whole number; 1e6 is one."""
    try:
        number = as_whole(float(text)) if not text.strip("-+").isdigit() else int(text)
    except ValueError:
        number = None
    if number is None:
        raise argparse.ArgumentTypeError(f"is {text!r} and must be a whole number")
    return number


def at_least_one(text: str) -> int:
    """A whole number of at least 1."""
    number = whole(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"is {text!r} and must be at least 1")
    return number


def at_least_zero(text: str) -> int:
    """A whole number of at least 0."""
    number = whole(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"is {text!r} and must be at least 0")
    return number


def add_reproduce(command: argparse.ArgumentParser) -> Command:
    """Arguments of `reproduce`."""
    command.add_argument(
        "part",
        nargs="?",
        default="all",
        help="cost, reward, scaling or theory; all of them by default",
    )
    command.add_argument(
        "--quick",
        action="store_true",
        help="fewer runs and scales, for a first look in under a minute",
    )
    command.add_argument(
        "--runs",
        type=whole,
        metavar="N",
        help="runs that the verdicts are made from (default 150); more go on from those there",
    )
    command.add_argument(
        "--out",
        metavar="FOLDER",
        help="where results, figures and index.html go (default: results, or results/quick)",
    )
    command.add_argument(
        "--fresh", action="store_true", help="forget the results of earlier runs in this folder"
    )
    add_workers(command)
    return commands.reproduce


def add_compare(command: argparse.ArgumentParser) -> Command:
    """Arguments of `compare`."""
    command.add_argument(
        "policies",
        nargs="*",
        metavar="POLICY",
        help='a name, or a name with settings: "BDSE(keep_history=True)"',
    )
    command.add_argument("--file", metavar="TOML", help="read the comparison from a TOML file")
    command.add_argument(
        "--problem",
        metavar="NAME",
        help="a family, with or without settings: bernoulli, or "
        '"hard_cost(best_delay=50, max_delay=4000)" (default: truncated_normal)',
    )
    command.add_argument("--arms", type=whole, metavar="K", help="number of arms")
    command.add_argument("--max-delay", type=whole, metavar="D", help="the greatest delay")
    command.add_argument("--payoff", metavar="WHAT", help="cost (default) or reward")
    command.add_argument(
        "--horizon", type=whole, metavar="T", help="plays in a run (default 150000)"
    )
    command.add_argument("--runs", type=whole, metavar="N", help="runs of each policy (default 10)")
    command.add_argument("--seed", type=whole, metavar="N", help="all randomness (default 0)")
    command.add_argument("--out", metavar="FOLDER", help="keep the results here, and resume here")
    command.add_argument("--plot", metavar="FILE", help="draw the curves into a .svg, .png or .pdf")
    command.add_argument(
        "--against",
        metavar="POLICY",
        help="also print the paired difference of each policy to this one",
    )
    add_formats(command)
    add_workers(command)
    return commands.compare


def add_scaling(command: argparse.ArgumentParser) -> Command:
    """Arguments of `scaling`."""
    command.add_argument(
        "names", nargs="*", metavar="NAME", help="which experiments (default: all of them)"
    )
    command.add_argument("--quick", action="store_true", help="fewer values and runs")
    command.add_argument(
        "--out", metavar="FOLDER", help="keep the results and draw figures in this folder"
    )
    add_formats(command)
    add_workers(command)
    return commands.scaling


def add_log(command: argparse.ArgumentParser) -> Command:
    """Arguments of `log`."""
    command.add_argument("file", metavar="FILE", help="a CSV or Parquet file with one row per play")
    command.add_argument("--arm", required=True, metavar="COLUMN", help="which option was played")
    command.add_argument("--time", required=True, metavar="COLUMN", help="how long it took so far")
    command.add_argument(
        "--finished",
        metavar="COLUMN",
        help="whether it was over then: true or false, yes or no, 1 or 0",
    )
    command.add_argument(
        "--all-finished", action="store_true", help="every play was over; there is no such column"
    )
    command.add_argument(
        "--max-delay", required=True, metavar="D", help="longer times count as this"
    )
    command.add_argument(
        "--payoff",
        required=True,
        metavar="WHAT",
        help="reward if long times are good, cost if short ones are",
    )
    command.add_argument("--start", metavar="COLUMN", help="when it began, to put rows in order")
    command.add_argument(
        "--decide",
        action="store_true",
        help="say stop or go on, by limits that hold however often you look",
    )
    command.add_argument("--error", metavar="SHARE", help="of --decide: its error rate (0.05)")
    command.add_argument("--tolerance", metavar="TIME", help="of --decide: a loss that is none (0)")
    command.add_argument("--encoding", metavar="NAME", help="of a CSV that is not UTF-8")
    command.add_argument("--plot", metavar="FILE", help="draw into a .svg, .png or .pdf")
    command.add_argument("--html", metavar="FILE", help="write one page that needs nothing else")
    add_formats(command)
    return log_command.log


def add_policies(command: argparse.ArgumentParser) -> Command:
    """Arguments of `policies`."""
    command.add_argument("name", nargs="?", metavar="NAME", help="tell everything about this one")
    add_formats(command)
    return commands.policies


def add_problems(command: argparse.ArgumentParser) -> Command:
    """Arguments of `problems`."""
    command.add_argument(
        "name", nargs="?", metavar="NAME", help='show this one: "bernoulli(arms=5, seed=1)"'
    )
    add_formats(command)
    return commands.problems


def add_report(command: argparse.ArgumentParser) -> Command:
    """Arguments of `report`."""
    command.add_argument(
        "folder",
        nargs="?",
        default="results",
        metavar="FOLDER",
        help="of 'tarry reproduce' (default: results)",
    )
    add_formats(command)
    return commands.report


def add_demo(command: argparse.ArgumentParser) -> Command:
    """Arguments of `demo`."""
    command.add_argument("what", metavar="WHAT", help="routes: HTTP servers on this machine")
    command.add_argument(
        "--change", action="store_true", help="the best server turns slow half-way"
    )
    command.add_argument("--requests", type=whole, default=1500, metavar="N", help="default 1500")
    command.add_argument(
        "--workers",
        type=whole,
        default=1,
        metavar="N",
        help="processes that share the agent, in a PostgreSQL server of their own; default 1",
    )
    command.add_argument("--seed", type=whole, default=0, metavar="N", help="default 0")
    command.add_argument(
        "--figure", default="routes.svg", metavar="FILE", help="default routes.svg"
    )
    return commands.demo


def add_serve(command: argparse.ArgumentParser) -> Command:
    """Arguments of `serve`."""
    command.add_argument(
        "--store",
        metavar="WHERE",
        help="a file for one agent (routes.db), a folder for several, or "
        "postgresql://user@host/db; "
        "without it nothing is kept",
    )
    command.add_argument(
        "--host", default="127.0.0.1", help="default 127.0.0.1; another needs keys"
    )
    command.add_argument("--port", type=whole, default=8090, metavar="N", help="default 8090")
    command.add_argument("--keys", metavar="FILE", help="who may do what; made by 'tarry key'")
    command.add_argument(
        "--origin",
        action="append",
        default=[],
        metavar="URL",
        help="a site whose pages may ask and report, as https://shop.example; may be given several "
        "times",
    )
    command.add_argument(
        "--secret",
        metavar="FILE",
        help="what tokens of pages are signed with (default: made, and kept beside the store)",
    )
    command.add_argument(
        "--durability",
        default="full",
        metavar="HOW",
        help="full: survives a power failure (default); normal: survives the end of the process",
    )
    command.add_argument(
        "--rate",
        type=at_least_zero,
        metavar="N",
        help="requests per second of one key (default 10000); 0 is no limit",
    )
    command.add_argument(
        "--page-rate",
        type=at_least_zero,
        metavar="N",
        help="requests per second of the pages at one address (default 50); 0 is no limit",
    )
    command.add_argument(
        "--behind",
        default="",
        metavar="ADDRESS",
        help="of a balancer or its network, whose X-Forwarded-For is believed; several with commas",
    )
    command.add_argument(
        "--log", default="warning", metavar="LEVEL", help="info (every request), warning, error"
    )
    command.add_argument(
        "--demo", action="store_true", help="an example agent with simulated visitors, in memory"
    )
    return commands.serve


def add_key(command: argparse.ArgumentParser) -> Command:
    """Arguments of `key`."""
    command.add_argument(
        "role",
        metavar="ROLE",
        help="manage: everything; decide: ask, tell and look; page: for browsers, ask and report",
    )
    command.add_argument("--keys", required=True, metavar="FILE", help="where its hash is added")
    command.add_argument("--name", default="", metavar="TEXT", help="whose it is, for you")
    command.add_argument(
        "--origin",
        action="append",
        default=[],
        metavar="URL",
        help="of a page key: the site that uses it, as https://shop.example; may be given several "
        "times",
    )
    command.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="NAME",
        help="an agent that it is for (default: all); may be given several times",
    )
    return commands.key


def add_formats(command: argparse.ArgumentParser) -> None:
    """How a table is printed."""
    formats = command.add_mutually_exclusive_group()
    formats.add_argument("--json", action="store_true", help="print the table as JSON, in full")
    formats.add_argument("--csv", action="store_true", help="print the table as CSV, in full")


def add_workers(command: argparse.ArgumentParser) -> None:
    """Where the runs are played."""
    command.add_argument(
        "--workers", type=at_least_one, metavar="N", help="threads (default: one for each core)"
    )
    command.add_argument(
        "--dask", metavar="ADDRESS", help="play on the Dask cluster with this scheduler"
    )
