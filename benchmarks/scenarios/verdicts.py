"""What a policy must reach in these scenarios, and where it does not."""

from collections.abc import Sequence

import numpy as np

from benchmarks.scenarios.entrants import BEST, TARRY
from benchmarks.scenarios.runs import Results, numbers
from tarry.tables import markdown_table

WITHIN, AHEAD = 1.10, 0.95
# Scenario, measure, limit, which of the seeds must keep to it, and in words.
LIMITS = (
    ("hang", "into", 30, "worst", "hang: at most 30 requests into it"),
    ("hang", "left", 0.5, "worst", "hang: left within 0.5 s"),
    ("hang", "back", 10, "median", "hang: back within 10 s (median)"),
    ("hang", "back", 20, "worst", "hang: back within 20 s (worst)"),
    ("20 x slower", "into", 40, "worst", "20 x slower: at most 40 requests into it"),
    ("20 x slower", "back", 5, "median", "20 x slower: back within 5 s (median)"),
    ("fails fast", "into", 20, "worst", "fails fast: at most 20 requests into it"),
)


def best_rival(
    results: Results, scenario: str, ours: str, but: Sequence[str] = ()
) -> tuple[str, float]:
    """Who of the others, `but` these, has the least mean cost there, and that cost."""
    rivals = {
        name: cost_of(results, scenario, name)
        for where, name in results
        if where == scenario and name not in (ours, BEST, *but)
    }
    name = min(rivals, key=lambda each: rivals[each])
    return name, rivals[name]


def cost_of(results: Results, scenario: str, name: str) -> float:
    """Mean cost of a request over all seeds."""
    return float(numbers(results, scenario, name, "mean").mean())


def against_best_rival(
    results: Results, scenario: str, ours: str, but: Sequence[str] = ()
) -> float:
    """Our mean cost over that of the best of the others."""
    return cost_of(results, scenario, ours) / best_rival(results, scenario, ours, but)[1]


def limit(
    results: Results, ours: str, scenario: str, field: str, most: float, how: str, what: str
) -> list[str]:
    """A row: the median or the worst of a measure of ours against its limit."""
    if (scenario, ours) not in results:
        return [what, "not run", "-"]
    values = numbers(results, scenario, ours, field)
    told = float(np.median(values) if how == "median" else values.max())
    shown = f"{np.mean(values):.3g} on average, " if how == "worst" else ""
    shown += f"{how} {told:.3g}"
    return [what, "yes" if told <= most else "**no**", shown]


def targets(results: Results, scenarios: Sequence[str], ours: str) -> str:
    """Every target, whether it is met, and what was measured."""
    others = {name: against_best_rival(results, name, ours, TARRY) for name in scenarios}
    ratios = {name: against_best_rival(results, name, ours) for name in scenarios}
    narrow = [
        name
        for name in scenarios
        if cost_of(results, name, BEST) > AHEAD * best_rival(results, name, ours)[1]
    ]
    count = len(ratios)
    few = (
        f"in {len(narrow)} nobody can be, since a rival is that near to the best backend, which "
        f"leaves {count - len(narrow)}"
    )
    near = f"mean cost within {100 * WITHIN - 100:.0f} % of that of the best router of others"
    ahead = f"ahead of the routers of others by {100 - 100 * AHEAD:.0f} % or more in at least half"
    same = "the same with SurvivalThompson, a policy of tarry, among the rivals"
    rows = [
        [f"{near} in every scenario", *all_within(others)],
        [same, *all_within(ratios)],
        [ahead, *half_ahead(others)],
        [same, *half_ahead(ratios, f"; {few}")],
    ]
    if ("calm", ours) in results:
        ratio = numbers(results, "calm", ours, "mean") / numbers(results, "calm", BEST, "mean")
        rows.append(
            [
                "calm at 100 per second within 2 % of the best backend",
                "yes" if ratio.mean() <= 1.02 else "**no**",
                f"{100 * ratio.mean() - 100:.2f} %, worst {100 * ratio.max() - 100:.2f} %",
            ]
        )
    rows += [limit(results, ours, *demand) for demand in LIMITS]
    return markdown_table(["target", "met", "measured"], rows)


def all_within(ratios: dict[str, float]) -> list[str]:
    """Whether all ratios are within `WITHIN`, and which are not."""
    missed = {name: ratio for name, ratio in ratios.items() if ratio > WITHIN}
    told = "".join(f"; {name}: {ratio:.2f}" for name, ratio in missed.items())
    return ["**no**" if missed else "yes", f"{len(ratios) - len(missed)} of {len(ratios)}{told}"]


def half_ahead(ratios: dict[str, float], also: str = "") -> list[str]:
    """Whether half of the ratios are at most `AHEAD`, how many are, and what `also` says."""
    ahead = sum(ratio <= AHEAD for ratio in ratios.values())
    return ["yes" if 2 * ahead >= len(ratios) else "**no**", f"{ahead} of {len(ratios)}{also}"]


def rivals_table(results: Results, scenarios: Sequence[str], ours: str) -> str:
    """Our mean cost next to that of the best rival, scenario by scenario."""
    rows = []
    for name in scenarios:
        rival, cost = best_rival(results, name, ours)
        mine, best = cost_of(results, name, ours), cost_of(results, name, BEST)
        rows.append(
            [
                name,
                f"{1e3 * best:.1f}",
                f"{1e3 * mine:.1f}",
                f"{1e3 * cost:.1f}",
                rival,
                f"{mine / cost:.2f}",
            ]
        )
    head = ["scenario", BEST, ours, "best rival", "who", "ratio"]
    return markdown_table(head, rows)


def together(results: Results, scenarios: Sequence[str], choosers: Sequence[str]) -> str:
    """A row for each chooser over all scenarios."""
    costs = np.array([[cost_of(results, s, name) for s in scenarios] for name in choosers])
    bases = np.array([cost_of(results, s, BEST) for s in scenarios])
    behind = costs / costs.min(axis=0)
    rows = [
        [
            name,
            f"{np.exp(np.log(cost / bases).mean()):.2f}",
            f"{(ratio <= 1.01).sum()} of {len(scenarios)}",
            f"{ratio.max():.2f} ({scenarios[int(ratio.argmax())]})",
        ]
        for name, cost, ratio in zip(choosers, costs, behind, strict=True)
    ]
    return markdown_table(["chooser", "over the best backend", "best", "worst ratio"], rows)
