"""The section of the page about the wait: what somebody has who is told nearly everything."""

import re
from collections.abc import Mapping

import numpy as np

from benchmarks.contexts.oracle import FORMS, OURS, PARTS, told, told_worlds
from benchmarks.contexts.worlds import HORIZON, World
from tarry.arrays import FloatArray
from tarry.experiments.curves import student

HEADING = "## What waiting costs"
TOLD = (
    "The *oracle* is told what nobody can know: the family of the laws, their shapes, and the laws "
    "from which all other parameters were drawn; where delays are 0 or D, that they are, so that "
    "who is not back at once will last D, and there is no wait. It has to find the parameters. It "
    "learns from all plays, those still out included. What it knows of the parameters is exact, up "
    "to a grid, in *five segments*; a cloud of 1000 points in *linear*; elsewhere the normal law "
    "around the most likely ones, corrected for the length of the effects, which it is told too.\n"
    "It plays what is best in expectation (share 0), by a draw of the parameters (share 1, "
    "Thompson sampling), by one that is moved towards the expectation, so that this share of the "
    "variance of payoffs is left, by the better of expectation and draw (*optimist*), or by the "
    "expectation but for one draw in six (*rare draws*). The last two came in after a look at the "
    "seeds of the second table, since small shares lose arms there. It is no bound, for no form "
    "plans.\n\n"
    "The first world above, regret up to so many steps, each over that of uniform play in all "
    "{horizon}; D is 2000. Mean of {runs} runs.\n\n"
)
BESIDE = (
    "\nOn the seeds of [the other libraries](peers-contexts.md): regret over that of uniform play "
    "in all {horizon} steps, mean of {runs}. *Best over peer* is the best of the {count} forms, "
    "chosen in hindsight, which favours it, over SurvivalRegression here, times the ratio of "
    "SurvivalRegression to the best peer on that page.\n\n"
)
WHERE = (
    "\nWhere SurvivalRegression has more than half of the best peer's regret, with the 95 % "
    "interval of the form over SurvivalRegression in it (not that of the peer):\n\n"
)
EARLIER = (
    "\nAn earlier oracle, for the first world only, took effects for normal, payoffs at the most "
    "likely parameters for expected ones, and looked at its plays less often: it had 0.0135 with "
    "rewards in the first table. A better one may have less than this one, too. On ten other seeds "
    "of that world, upper bounds of four widths, or looks four times as often, changed its regret "
    "by a twentieth or less.\n"
)

PLAYERS = (OURS, *map(told, FORMS))
Waits = Mapping[tuple[str, str], FloatArray]  # by key of a world and player: (runs, parts)


def waiting_part(wait: Waits, beside: Waits, peers: str) -> str:
    """The section; `peers` is the text of the page with the other libraries."""
    if not complete(wait):
        return ""
    text = f"\n{HEADING}\n\n{by_steps(wait)}"
    return text + (beside_peers(beside, ratios(peers)) if complete(beside) else "") + EARLIER


def complete(wait: Waits) -> list[World]:
    """The worlds in which everybody has played."""
    return [w for w in told_worlds() if all((w.key, name) in wait for name in PLAYERS)]


def with_section(page: str, section: str) -> str:
    """The page with this section in place of the one with the same heading."""
    heading = re.escape(section.strip().splitlines()[0])
    found = re.search(rf"\n{heading}\n.*?(?=\n## |\Z)", page, flags=re.DOTALL)
    if found is None:
        raise ValueError(f"The page has no section {section.strip().splitlines()[0]!r}.")
    return page[: found.start()] + section.rstrip("\n") + "\n" + page[found.end() :]


def ratios(peers: str) -> dict[str, float]:
    """By title and payoff: SurvivalRegression over the best peer."""
    rows = re.findall(r"^\| ([^|]+?) \|.*\| ([0-9.]+) \([^|]*\) \|$", peers, flags=re.MULTILINE)
    return {title: float(ratio) for title, ratio in rows}


def by_steps(wait: Waits) -> str:
    """What is lost by when, in the first world."""
    worlds = complete(wait)
    rows, after = [], ""
    for world in worlds:
        means = {name: wait[world.key, name].mean(axis=0) for name in PLAYERS}
        rows += [[world.payoff, name, *(f"{x:.4f}" for x in means[name])] for name in PLAYERS]
        least = min(means[name][-1] for name in PLAYERS[1:])
        ours = means[OURS]
        after += (
            f"With payoff {world.payoff} SurvivalRegression has {ours[-1] / least:.2f} times the "
            f"regret of the best form, and {ours[1] / ours[-1]:.0%} of its own within D.\n"
        )
    heads = ["payoff", "", *(f"{spaced(part)} steps" for part in PARTS)]
    runs = len(wait[worlds[0].key, OURS])
    text = TOLD.format(horizon=spaced(HORIZON), runs=runs)
    return f"{text}{aligned(heads, rows, 2)}\n\n{after}"


def beside_peers(beside: Waits, ours_over: Mapping[str, float]) -> str:
    """Regret of all, and which oracles have at most half of the best peer's."""
    rows, after = [], ""
    runs: dict[str, int] = {}
    for world in complete(beside):
        title = f"{world.title}, {world.payoff}"
        finals = {name: beside[world.key, name][:, -1] for name in PLAYERS}
        best = min(PLAYERS[1:], key=lambda name: float(finals[name].mean()))
        part, error = ratio_of_means(finals[best], finals[OURS])
        over, error = part * ours_over[title], error * ours_over[title]
        cells = [f"{shares.mean():.4f}" for shares in finals.values()]
        rows.append([title, *cells, f"{over:.2f}"])
        runs[world.payoff] = len(finals[OURS])
        if ours_over[title] > 0.5:
            after += (
                f"- {title}: SurvivalRegression has {ours_over[title]:.2f} of the best peer's "
                f"regret, and the best form ({best.split(', ')[1]}) {part:.2f}"
                f" of SurvivalRegression's. That makes {over:.2f} ± {error:.2f}: "
                f"{verdict(over, error)}.\n"
            )
    heads = ["world", *PLAYERS, "best over peer"]
    counted = " and ".join(f"{count} runs with payoff {payoff}" for payoff, count in runs.items())
    text = BESIDE.format(horizon=spaced(HORIZON), runs=counted, count=len(FORMS))
    text += aligned(heads, rows, 1) + "\n"
    return text + (WHERE + after if after else "")


def ratio_of_means(own: FloatArray, other: FloatArray) -> tuple[float, float]:
    """A ratio over the same runs, with half of its 95 % interval (linearised, Student)."""
    over = float(own.mean() / other.mean())
    if len(own) < 2:
        return over, float("inf")
    rest = (own - over * other) / other.mean()
    return over, float(student(len(own) - 1)) * float(np.std(rest, ddof=1)) / len(own) ** 0.5


def verdict(over: float, error: float) -> str:
    """Whether that is one half, and whether the runs say so beyond chance."""
    said = "at most one half" if over <= 0.5 else "more than one half"
    return said + (", but these runs leave it open" if abs(over - 0.5) <= error else "")


def aligned(heads: list[str], rows: list[list[str]], words: int) -> str:
    """A table whose columns are numbers but for the first ones."""
    rule = ["---"] * words + ["--:"] * (len(heads) - words)
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *rows))


def spaced(number: int) -> str:
    """A number with a space between thousands."""
    return f"{number:,}".replace(",", " ")
