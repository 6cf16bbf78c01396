"""The demo's table in the terminal."""

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from tarry.live.explain import Explanation, seconds
from tarry.tables import terminal_table

if TYPE_CHECKING:
    from tarry.demo.routes import DemoResult


def explanation_table(explanation: Explanation) -> Any:
    """What `agent.explain()` says, as a table of rich."""
    c = explanation.counts
    rows = [
        [
            row.arm,
            str(row.plays),
            str(row.pending),
            "-" if row.oldest_pending is None else seconds(row.oldest_pending),
            seconds(row.mean),
            f"{seconds(row.low)} .. {seconds(row.high)}",
            f"{row.share:.0%}",
        ]
        for row in explanation.arms
    ]
    return terminal_table(
        ["arm", "plays", "out", "oldest", "mean", "95 % interval", "recent"],
        rows,
        title=f"{explanation.policy}, {explanation.payoff}",
        caption=f"{c.asked} asked = {c.returned} returned + {c.pending} pending + {c.closed} "
        f"closed + {c.cancelled} cancelled",
    )


def demo_table(result: "DemoResult") -> Group:
    """The agent's view, and how it does against round robin and the best server."""
    lines = str(result) if result.round_robin.latency and result.agent.latency else ""
    width = max(len(row.arm) for row in result.explanation.arms)
    why = "\n".join(f"{row.arm:{width}}  {row.why}" for row in result.explanation.arms)
    return Group(explanation_table(result.explanation), Text(f"{why}\n\n{lines}\n"))
