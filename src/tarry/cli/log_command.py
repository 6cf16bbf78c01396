"""`tarry log`: from a file to a table, a sentence, a picture and a page."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarry.checks import check_payoff
from tarry.errors import InputError
from tarry.files import check_place
from tarry.tables import csv_text, json_text

if TYPE_CHECKING:
    from tarry.logs import Log
    from tarry.logs.decision import Decision

PICTURES = ("svg", "png", "pdf")


def log(options: Namespace) -> None:
    """Read the file, print what it says, and write what was asked for."""
    from tarry.cli.output import say

    check_payoff(options.payoff)
    picture = check_place(options.plot, PICTURES) if options.plot else None
    page = check_place(options.html, ("html", "htm")) if options.html else None
    if picture or page:
        import tarry.drawing  # noqa: F401  # without matplotlib, it is better to say so first
    for name in ("error", "tolerance"):
        if getattr(options, name) is not None and not options.decide:
            raise InputError(f"--{name} is of use with --decide only; give both, or neither.")
    error, tolerance = number_of(options, "error", 0.05), number_of(options, "tolerance", 0.0)
    read = read_log(options)
    decision = read.decide(options.payoff, error, tolerance) if options.decide else None
    if options.json:
        say(json_text(as_json(read, options.payoff, decision)))
    elif options.csv:
        say(csv_text(arm_records(read, options.payoff)))
    else:
        say(table(read, options.payoff))
        say(f"\n{read.summary(options.payoff)}")
        if decision is not None:
            say(decision.sentence)
    if picture:
        read.plot(picture)
        tell(options, f"The curves are in {picture}.")
    if page:
        from tarry.cli.log_page import write_page

        write_page(page, read, options.payoff, decision, Path(options.file).name)
        tell(options, f"The page is {page}.")


def tell(options: Namespace, text: str) -> None:
    """Say it, unless the output is for programs."""
    from tarry.cli.output import say

    if not options.json and not options.csv:
        say(text)


def read_log(options: Namespace) -> "Log":
    """The log that the arguments describe."""
    from tarry.logs import Log

    if bool(options.finished) == options.all_finished:
        raise InputError(
            "Which plays are finished must be said once: give --finished COLUMN, or "
            "--all-finished if every play was over."
        )
    return Log.read(
        options.file,
        arm=options.arm,
        time=options.time,
        finished=options.finished or True,
        max_delay=number_of(options, "max_delay"),
        start=options.start,
        encoding=options.encoding,
    )


def number_of(options: Namespace, name: str, default: float = 0.0) -> float:
    """An argument as a number, `default` where it is not given."""
    text = getattr(options, name)
    try:
        return default if text is None else float(text)
    except ValueError:
        flag = name.replace("_", "-")
        raise InputError(f"--{flag} is {text!r}; it must be a number.") from None


def table_rows(read: "Log", payoff: Any) -> tuple[list[str], list[list[str]]]:
    """One line per arm, the best first."""
    from tarry.logs.answers import interval, interval_head, mean_text, percent, short, shown

    means, best = read.means(), read.best(payoff)
    heads = ["arm", "plays", "unfinished", "mean", interval_head(means.level)]
    rows = [
        [
            shown(arm),
            str(means[arm].plays),
            str(means[arm].unfinished),
            mean_text(means[arm]),
            interval(means[arm].low, means[arm].high),
            percent(best[arm]),
            short(best.loss[arm]),
        ]
        for arm in sorted(means, key=best.loss.__getitem__)
    ]
    return [*heads, "best", "loss if chosen"], rows


def table(read: "Log", payoff: Any) -> str:
    """The table as text."""
    from tarry.tables import aligned

    heads, rows = table_rows(read, payoff)
    return "\n".join(aligned([heads, *rows]))


def arm_records(read: "Log", payoff: Any) -> list[dict[str, Any]]:
    """The table in full, in the order of the log."""
    from tarry.logs.answers import as_plain

    best = read.best(payoff)
    return [
        {**row, "best": best[row["arm"]], "loss": best.loss[row["arm"]]}
        for row in as_plain(read.means())
    ]


def as_json(read: "Log", payoff: Any, decision: "Decision | None") -> dict[str, Any]:
    """Everything that is printed, in full."""
    from tarry.logs.answers import as_plain

    answer: dict[str, Any] = {
        "plays": len(read),
        "unfinished": read.unfinished,
        "bad_rows": {"number": read.bad.number, "first": read.bad.first or None},
        "max_delay": read.max_delay,
        "payoff": payoff,
        "arms": arm_records(read, payoff),
        "differences": list(as_plain(read.differences())),
        "summary": read.summary(payoff),
    }
    if decision is not None:
        answer["decision"] = {
            "stop": decision.stop,
            "arm": decision.arm,
            "loss": decision.loss,
            "error": decision.error,
            "tolerance": decision.tolerance,
            "limits": {arm: list(limits) for arm, limits in decision.bounds.items()},
        }
    return answer
