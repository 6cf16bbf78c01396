"""What sharing costs in regret: `python -m benchmarks.shared_regret`.

Four processes on one agent, one process at the same total rate, and four that learn alone, on the
same requests in virtual time. A process that shares hears of every fact, its own included, only
`--staleness` seconds after it happened: that is all that sharing does to a decision.
`--figure docs/figures/processes.svg` draws it.

Regret is what the chosen backends cost above the best of each moment, by their laws. Runs are
paired by their seeds; with --keep they are added to a file, and a later call goes on from there.
"""

import argparse
import json
import statistics
import textwrap
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tarry
from tarry.live.clock import to_ticks
from tarry.live.facts import FAIL, RETURN, START, Row
from tarry.live.replica import SHIFT, Replica, decision_keys
from tarry.live.restore import new_core
from tarry.scenarios.by_agent import ByAgent
from tarry.scenarios.catalogue import catalogue
from tarry.scenarios.routers.protocol import RouterSetting
from tarry.scenarios.scenario import Scenario
from tarry.scenarios.simulate import simulate
from tarry.scenarios.timeline import Timeline

PROCESSES = 4
SCENARIOS = ("calm", "drift", "swap", "fails fast", "hang", "20 x slower", "a new best one")
KINDS = ("one", "shared", "alone")
WORDS = {
    "one": "one process",
    "shared": f"{PROCESSES} processes, one agent",
    "alone": f"{PROCESSES} processes alone",
}


class SharedRouter:
    """Decisions on a replica that is behind by the staleness."""

    def __init__(self, policy: Any, setting: RouterSetting, staleness: float) -> None:
        settings = {
            "arms": [str(k) for k in range(setting.backends)],
            "payoff": "cost",
            "max_delay": to_ticks(setting.timeout),
            "horizon": 0,
            "seed": setting.rng.getrandbits(60),
            "remembered": 0,
        }
        self.replica = Replica(new_core(policy, settings))
        core = self.replica.core.hasten()
        if core.promise is not None:
            core.promise.fulfil(aside=False)
        self.timeout, self.behind = setting.timeout, to_ticks(staleness)
        self.tick = max(core.max_delay // 64, 20_000)
        self.keys = [decision_keys(core.seed, 15 * (k + 1)) for k in range(PROCESSES)]
        self.rng = setting.rng
        self.on_their_way: deque[Row] = deque()

    def choose(self, request: int, now: float) -> int:
        """As `tarry.live.shared` does."""
        ticks = to_ticks(now)
        read = ticks - self.behind
        while self.on_their_way and self.on_their_way[0][1] <= read:
            self.replica.fold(self.on_their_way.popleft())
        if read - self.replica.core.now > self.tick:
            self.replica.let_pass(read)
        arm = self.replica.decide("", [], next(self.rng.choice(self.keys)))
        assert arm is not None
        self.on_their_way.append((START, ticks, (15 << SHIFT) + request + 1, arm.slot, None))
        return arm.slot

    def answered(self, request: int, backend: int, latency: float, now: float) -> None:
        """An answer, told by any of them."""
        play = (15 << SHIFT) + request + 1
        self.on_their_way.append((RETURN, to_ticks(now), play, to_ticks(latency), None))

    def failed(self, request: int, backend: int, latency: float, now: float) -> None:
        """A failure; a play that is D old is closed by itself."""
        if latency < self.timeout:
            play = (15 << SHIFT) + request + 1
            self.on_their_way.append((FAIL, to_ticks(now), play, None, None))


class LonelyRouters:
    """Each request comes to one of several that know nothing of each other."""

    def __init__(self, policy: Any, setting: RouterSetting) -> None:
        self.rng, self.whose = setting.rng, dict[int, Any]()
        self.agents = [
            ByAgent(policy, setting.backends, setting.timeout, 2, self.rng.getrandbits(60))
            for _ in range(PROCESSES)
        ]

    def choose(self, request: int, now: float) -> int:
        """By whoever got it."""
        agent = self.whose[request] = self.rng.choice(self.agents)
        return agent.choose(request, now)

    def answered(self, request: int, backend: int, latency: float, now: float) -> None:
        """To whoever asked."""
        self.whose.pop(request).answered(request, backend, latency, now)

    def failed(self, request: int, backend: int, latency: float, now: float) -> None:
        """To whoever asked."""
        self.whose.pop(request).failed(request, backend, latency, now)


@dataclass(frozen=True)
class Chooser:
    """One of the three kinds."""

    kind: str
    policy: Any
    staleness: float

    def start(self, setting: RouterSetting) -> Any:
        """See `tarry.scenarios.routers.protocol`."""
        if self.kind == "one":
            seed = setting.rng.getrandbits(60)
            return ByAgent(self.policy, setting.backends, setting.timeout, 2, seed)
        if self.kind == "shared":
            return SharedRouter(self.policy, setting, self.staleness)
        return LonelyRouters(self.policy, setting)


def regret(scenario: Scenario, chooser: Chooser, seed: int) -> float:
    """Seconds above the best backend of each moment, per thousand requests."""
    traffic = simulate(scenario, chooser, seed)
    lines = [Timeline(scenario, k) for k in range(len(scenario.pieces))]
    table = np.array([line.cost(traffic.times) for line in lines])
    chosen = table[traffic.backends, np.arange(len(traffic.times))]
    return float((chosen - table.min(axis=0)).mean() * 1000)


def measured(keep: Path | None, runs: int, first: int, staleness: float, names: Any) -> Any:
    """Regret by scenario and kind, a list over the seeds."""
    policy = tarry.RegimeThompson()
    found: dict[str, float] = {}
    if keep is not None and keep.exists():
        found = dict(json.loads(line) for line in keep.read_text().splitlines())
    scenarios = {scenario.name: scenario for scenario in catalogue()}
    for seed in range(first, first + runs):
        for name in names:
            for kind in KINDS:
                key = f"{name}|{kind}|{seed}|{staleness}"
                if key not in found:
                    chooser = Chooser(kind, policy, staleness)
                    found[key] = regret(scenarios[name], chooser, seed)
                    if keep is not None:
                        with keep.open("a") as file:
                            file.write(json.dumps([key, found[key]]) + "\n")
    return {
        name: {
            kind: [
                found[f"{name}|{kind}|{seed}|{staleness}"] for seed in range(first, first + runs)
            ]
            for kind in KINDS
        }
        for name in names
    }


def ratio(top: list[float], bottom: list[float]) -> tuple[float, float]:
    """The ratio of the means, and its standard error, of paired runs."""
    value = statistics.fmean(top) / statistics.fmean(bottom)
    rest = [a - value * b for a, b in zip(top, bottom, strict=True)]
    error = statistics.stdev(rest) / len(rest) ** 0.5 / statistics.fmean(bottom)
    return value, error


def draw(found: Any, path: Path) -> None:
    """One figure: regret over that of one process, by scenario, with standard errors."""
    from tarry.drawing import new_figure, save_figure, styled

    with styled():
        figure = new_figure(3.2)
        axes = figure.subplots()
        _draw_bars(axes, found)
        save_figure(figure, path)


def _draw_bars(axes: Any, found: Any) -> None:
    from tarry.palette import PALETTE

    names = list(found)
    for k, kind in enumerate(KINDS[1:]):
        ratios = [ratio(found[name][kind], found[name]["one"]) for name in names]
        places = np.arange(len(names)) + (k - 0.5) * 0.38
        values, errors = zip(*ratios, strict=True)
        axes.bar(places, values, 0.34, yerr=errors, color=PALETTE[k], label=WORDS[kind])
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_xticks(np.arange(len(names)), ["\n".join(textwrap.wrap(n, 6)) for n in names])
    axes.set_ylabel("regret / regret of one process")
    axes.set_ylim(0.0, 4.0)
    axes.legend(frameon=False, loc="upper right")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--first", type=int, default=2000, help="the first seed")
    parser.add_argument("--staleness", type=float, default=0.01, help="seconds")
    parser.add_argument("--scenarios", nargs="+", default=SCENARIOS)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    found = measured(given.keep, given.runs, given.first, given.staleness, given.scenarios)
    for name, kinds in found.items():
        cells = []
        for kind in ("shared", "alone"):
            value, error = ratio(kinds[kind], kinds["one"])
            cells.append(
                f"{WORDS[kind]} {value:.2f} +- {error:.2f} (up to {value + 1.645 * error:.2f})"
            )
        print(f"{name:26s} one process {statistics.fmean(kinds['one']):7.2f}; {'; '.join(cells)}")
    if given.figure is not None:
        draw(found, given.figure)


if __name__ == "__main__":
    main()
