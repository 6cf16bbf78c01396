"""What lost beacons do to an agent, by the rule that is followed: `python -m benchmarks.beacons`.

A site has three contents; a visit is worth the seconds that it lasts, 600 at most. A page reports
every few seconds how long it has been read, and sends a last word at its end, which may be lost:
then the visit falls silent, and something must be booked for it. Four rules, each with the same
visitors in virtual time:

    middle   it ended in the middle of the interval after its last report: what agents do
    drop     it is left out
    censor   it lasted longer than was last reported, and nobody knows how much
    D        it lasted 600 seconds

The contents differ in how often the last word is lost. With the "guide", the best one, it is lost
with long visits more than with short ones (a phone is put away), with the "video" often and always
alike, and with the "quiz" rarely. `--bias` says how far off the middle is by itself, and
`--figure docs/figures/beacons.svg` draws what was found.
"""

import argparse
import heapq
import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tarry
from tarry.live.clock import to_ticks
from tarry.live.core import Core
from tarry.live.explain import explanation
from tarry.live.lease import Lease, Leases
from tarry.live.register import CLOSED, NONE
from tarry.live.restore import new_core
from tarry.policies.driver import correct_ages

LONGEST = 600.0  # seconds, D
BETWEEN = 2.0  # seconds from one visitor to the next, on average
VOID = 0.03  # of the visits are never heard of
RULES = ("middle", "drop", "censor", "D")


class Content(NamedTuple):
    """What visitors may be shown: visits are log-normal, and some ends are not heard of."""

    name: str
    median: float  # seconds
    spread: float  # of the logarithm
    lost: float  # share of ends that are lost
    half: float = 0.0  # with visits of so many seconds half that share, with longer ones more

    def lasts(self, normal: Any) -> Any:
        """How long visits last, from standard normal numbers."""
        return np.minimum(self.median * np.exp(self.spread * normal), LONGEST)

    def loses(self, lasted: Any) -> Any:
        """How likely the end of a visit is lost."""
        return self.lost * lasted / (lasted + self.half)


WORLD = (
    Content("guide", 55.0, 1.0, 0.9, 60.0),
    Content("quiz", 60.0, 0.7, 0.1),
    Content("video", 45.0, 0.8, 0.8),
)
BEST = 0


def true_means(contents: tuple[Content, ...] = WORLD) -> list[float]:
    """The mean of each content, by quantiles."""
    normal = statistics.NormalDist()
    ranks = (np.arange(20_000) + 0.5) / 20_000
    quantiles = np.array([normal.inv_cdf(rank) for rank in ranks.tolist()])
    return [float(np.mean(content.lasts(quantiles))) for content in contents]


class Otherwise(Leases):
    """Leases that run out as one of the other rules has it."""

    rule = "drop"

    def end_silent(self, number: int) -> None:
        """See `Leases`."""
        core, age = self._core, self.age(number)
        if age == NONE:
            super().end_silent(number)
        elif self.rule == "D":
            core.book(number, CLOSED, core.max_delay)
        elif self.rule == "censor":
            self.heard[number] = core.now  # as if it were heard of just now, and then given up
            core.cancel(number, core.now)
        else:
            self._forget(number)

    def _forget(self, number: int) -> None:
        """As if the visit had not been made: what was told of its age is withdrawn."""
        register = self._core.register
        desk: Any = self._core.slots[register.slot[number & register.mask]].desk
        desk._recall(number)  # noqa: SLF001  # an experiment on its inside
        row = number & (len(desk.plays.number) - 1)
        correct_ages(desk.heard, desk.ledger, desk.plays, desk.at_end, row, 0, self._core.now)
        self._void(number)


def made_core(policy: Any, rule: str, beat: float, seed: int) -> Core:
    """An agent without clock and file, whose silent visits are booked by this rule."""
    lease = Lease(to_ticks(3 * beat), to_ticks(beat))
    settings = {
        "arms": [content.name for content in WORLD],
        "payoff": "reward",
        "max_delay": to_ticks(LONGEST),
        "horizon": 0,
        "seed": seed,
        "remembered": 0,
        "lease": list(lease),
    }
    core = new_core(policy, settings)
    if rule != "middle":
        core.leases = core.maker.leases = Otherwise(core, lease)
        core.leases.rule = rule
        core.open = core.maker.desk(list(core.arms.values())).seat()
    return core


@dataclass
class Run:
    """What came of it."""

    shares: list[float]  # of the contents among the last quarter of the visits
    means: list[float]  # as the agent estimates them, seconds


def run(policy: Any, rule: str, seed: int, visits: int, beat: float) -> Run:
    """So many visitors, one after the other."""
    rng = np.random.default_rng(seed)
    arrivals = np.cumsum(rng.exponential(BETWEEN, visits))
    normals = rng.standard_normal((visits, len(WORLD)))
    luck, seen = rng.random((visits, len(WORLD))), rng.random(visits) >= VOID
    core = made_core(policy, rule, beat, seed)
    waiting: list[tuple[float, int, float, bool]] = []  # when, which play, how old, whether it ends
    chosen = []
    for visit, now in enumerate(arrivals.tolist()):
        deliver(core, waiting, now)
        arm = core.decide(to_ticks(now))
        assert arm is not None
        number = core.start(arm, to_ticks(now))
        chosen.append(arm.slot)
        content = WORLD[arm.slot]
        lasted = float(content.lasts(normals[visit, arm.slot]))
        if seen[visit]:
            heard = luck[visit, arm.slot] >= content.loses(lasted)
            for age, ends in words(lasted, beat, ends=bool(heard)):
                heapq.heappush(waiting, (now + age, number, age, ends))
    end = float(arrivals[-1]) + LONGEST + 4 * beat
    deliver(core, waiting, end)
    last = chosen[-visits // 4 :]
    core.settle(to_ticks(end))
    rows = explanation(core, to_ticks(end)).arms
    return Run([last.count(k) / len(last) for k in range(len(WORLD))], [row.mean for row in rows])


def words(lasted: float, beat: float, *, ends: bool) -> Iterator[tuple[float, bool]]:
    """What a page says of a visit, and when: an age, and whether that is its end."""
    for k in range(int(lasted / beat) + 1):
        yield k * beat, False
    if ends:
        yield lasted, True


def deliver(core: Core, waiting: list[tuple[float, int, float, bool]], now: float) -> None:
    """The agent hears all that was said until now."""
    while waiting and waiting[0][0] <= now:
        when, number, age, ends = heapq.heappop(waiting)
        if ends:
            core.tell(number, to_ticks(age), to_ticks(when))
        elif core.is_out(number):
            core.report(number, to_ticks(age), to_ticks(when))


def bias(content: Content, beat: float, missed: float, draws: int = 200_000) -> float:
    """How much too long the middle is, on average over visits whose end is lost, in seconds.

    A share `missed` of the reports is lost as well; the first one is not.
    """
    rng = np.random.default_rng(7)
    lasted = content.lasts(rng.standard_normal(draws))
    lasted = lasted[rng.random(draws) < content.loses(lasted)]
    last = np.floor(lasted / beat)
    back = np.minimum(rng.geometric(1.0 - missed, len(last)) - 1 if missed else 0, last)
    reported = (last - back) * beat
    booked = (reported + np.minimum(reported + beat, LONGEST)) / 2
    booked[reported >= LONGEST] = LONGEST
    return float(np.mean(booked - lasted))


def measured(keep: Path | None, runs: int, first: int, visits: int, beat: float) -> Any:
    """By rule: the shares under SurvivalThompson and the means under Uniform, a list over seeds."""
    found: dict[str, Any] = {}
    if keep is not None and keep.exists():
        found = dict(json.loads(line) for line in keep.read_text().splitlines())
    for seed in range(first, first + runs):
        for rule in RULES:
            for policy in (tarry.SurvivalThompson(), tarry.Uniform()):
                key = f"{rule}|{type(policy).__name__}|{seed}|{visits}|{beat}"
                if key in found:
                    continue
                one = run(policy, rule, seed, visits, beat)
                found[key] = [one.shares, one.means]
                if keep is not None:
                    with keep.open("a") as file:
                        file.write(json.dumps([key, found[key]]) + "\n")

    def column(rule: str, policy: str, place: int) -> list[list[float]]:
        keys = [f"{rule}|{policy}|{seed}|{visits}|{beat}" for seed in range(first, first + runs)]
        return [found[key][place] for key in keys]

    return {
        rule: {
            "shares": column(rule, "SurvivalThompson", 0),
            "means": column(rule, "Uniform", 1),
        }
        for rule in RULES
    }


def draw(found: Any, path: Path) -> None:
    """One figure: what each rule takes the means for, the truth, and what is chosen for it."""
    from tarry.drawing import new_figure, save_figure, styled

    with styled():
        figure = new_figure(3.4)
        _draw_rules(figure.subplots(), found)
        save_figure(figure, path)


def _draw_rules(axes: Any, found: Any) -> None:
    from tarry.palette import PALETTE

    truth = true_means()
    for k, content in enumerate(WORLD):
        axes.axvline(truth[k], color=PALETTE[k], linewidth=1.2, linestyle=(0, (4, 3)))
        means = [statistics.fmean(one[k] for one in found[rule]["means"]) for rule in RULES]
        label = f"{content.name}, {truth[k]:.0f} s"
        axes.plot(means, range(len(RULES)), "os^"[k], color=PALETTE[k], markersize=8, label=label)
    said = {"middle": "middle of the\nlast interval", "drop": "drop", "censor": "censor"}
    names = []
    for rule in RULES:
        right = statistics.fmean(one[BEST] for one in found[rule]["shares"])
        names.append(f"{said.get(rule, 'count as D')}\nbest in {right * 100:.0f} %")
    axes.set_yticks(range(len(RULES)), names)
    axes.set_ylim(len(RULES) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.set_xticks([50, 100, 200, 400], ["50 s", "100 s", "200 s", "400 s"])
    axes.minorticks_off()
    axes.set_xlim(42, 600)
    axes.set_xlabel("mean visit, as taken from the reports")
    axes.grid(visible=False, axis="y")
    axes.legend(frameon=False, loc="upper right", title="truth (dashed)")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--visits", type=int, default=2000)
    parser.add_argument("--beat", type=float, default=5.0, help="seconds between two reports")
    parser.add_argument("--keep", type=Path, help="a file of results, to go on from")
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--bias", action="store_true", help="only how far off the middle is")
    given = parser.parse_args()
    if given.bias:
        show_bias()
        return
    found = measured(given.keep, given.runs, given.first, given.visits, given.beat)
    names = ", ".join(
        f"{content.name} {mean:.1f} s" for content, mean in zip(WORLD, true_means(), strict=True)
    )
    print(f"The truth: {names}.")
    for rule in RULES:
        shares = [one[BEST] for one in found[rule]["shares"]]
        means = [statistics.fmean(x) for x in zip(*found[rule]["means"], strict=True)]
        print(
            f"{rule:7s} means {'  '.join(f'{mean:6.1f}' for mean in means)}   best content chosen "
            f"{statistics.fmean(shares):.1%} (in the worst run {min(shares):.1%})"
        )
    if given.figure is not None:
        draw(found, given.figure)


def show_bias() -> None:
    """How much too long the middle is, in seconds of a visit whose end was lost."""
    worlds = *WORLD, Content("visits of 2 s", 2.0, 0.5, 0.5)
    truth = true_means(worlds)
    for missed in (0.0, 0.05):
        for beat in (1.0, 5.0, 15.0, 30.0, 60.0):
            cells = []
            for content, mean in zip(worlds, truth, strict=True):
                seconds = bias(content, beat, missed)
                cells.append(f"{content.name} {seconds:+6.2f} s ({seconds / mean:+.1%})")
            print(f"a report every {beat:g} s, {missed:.0%} of them lost: {'  '.join(cells)}")


if __name__ == "__main__":
    main()
