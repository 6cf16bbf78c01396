"""What following changes costs where nothing changes, and what it brings where something does.

python -m benchmarks.change            the tables of docs/concepts/change.md
python -m benchmarks.change --quick    four seeds, on which settings may be chosen
python -m benchmarks.change --tune     which settings of the rivals are the best on those
Runs are kept in a folder (results/change) and not made again; Ctrl-C at any time.
"""

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track

import tarry
from benchmarks.kept import code_of, keep, kept
from tarry.arrays import FloatArray
from tarry.policies.label import policy_label
from tarry.problems.problem import Payoff, Problem
from tarry.tables import markdown_table

# What happens once in a hundred runs needs many of them; there are fewer of worlds that change.
TUNING = range(500, 504)
CHANGING = range(820_000, 820_016)
STATIONARY = range(930_000, 930_128)
STEADY, OURS = tarry.SurvivalThompson(), tarry.RegimeThompson()
# Each rival with the best of these settings by the seeds for tuning: see --tune.
CHOICES: tuple[tuple[Any, ...], ...] = (
    tuple(tarry.FadingThompson(every) for every in (2000, 10_000, 50_000)),
    tuple(tarry.DiscountedThompson(every) for every in (2000, 10_000, 50_000)),
    tuple(tarry.WindowThompson(window) for window in (1000, 5000, 20_000, 50_000)),
    tuple(
        tarry.CUSUMUCB(threshold=threshold, explore=explore)
        for threshold in (5.0, 20.0, 100.0, 400.0)
        for explore in (0.002, 0.02)
    ),
)
CHOSEN: tuple[Any, ...] = (
    tarry.FadingThompson(10_000),
    tarry.DiscountedThompson(10_000),
    tarry.WindowThompson(20_000),
    tarry.CUSUMUCB(threshold=400.0),
)
Maker = Callable[[int], Problem]


def stationary() -> dict[str, tuple[Payoff, int, Maker]]:
    """The paper's families at its size, and its hard pairs."""
    return {
        "cost, truncated normal": (
            "cost",
            150_000,
            lambda seed: tarry.problems.truncated_normal(seed=seed),
        ),
        "cost, Bernoulli": (
            "cost",
            150_000,
            lambda seed: tarry.problems.bernoulli(30, seed=seed),
        ),
        "reward, truncated normal": (
            "reward",
            150_000,
            lambda seed: tarry.problems.truncated_normal(seed=seed),
        ),
        "reward, Bernoulli": (
            "reward",
            150_000,
            lambda seed: tarry.problems.bernoulli(30, seed=seed),
        ),
        "hard pair, cost": (
            "cost",
            100_000,
            lambda _: tarry.problems.hard_cost(best_delay=50, max_delay=4000),
        ),
        "hard pair, reward": (
            "reward",
            100_000,
            lambda _: tarry.problems.hard_reward(second_delay=1000, max_delay=4000),
        ),
    }


def worlds() -> dict[str, Maker]:
    """Worlds that change, drawn by a seed; 10 arms, D = 500, 150 000 steps."""

    def drawn(seed: int) -> Problem:
        return tarry.problems.truncated_normal(arms=10, max_delay=500, seed=seed)

    def jumps(seed: int) -> Problem:
        pieces = {1 + 30_000 * i: drawn(seed + 1000 * i) for i in range(5)}
        return tarry.problems.changing(pieces)

    def broken(seed: int, kind: Any) -> Problem:
        calm = drawn(seed)
        return tarry.problems.outage(calm, calm.best("cost"), 50_000, 80_000, kind)

    return {
        "nothing changes": drawn,
        "all arms change five times": jumps,
        "drift": lambda seed: tarry.problems.drifting(
            drawn(seed), drawn(seed + 1000), 30_000, 120_000
        ),
        "the best hangs": lambda seed: broken(seed, "hang"),
        "the best is 20 x slower": lambda seed: broken(seed, "slow"),
    }


class Campaign(NamedTuple):
    """Runs of policies in worlds, kept in a folder."""

    folder: Path

    def regrets(
        self, policy: Any, title: str, maker: Maker, payoff: Payoff, horizon: int, seeds: range
    ) -> FloatArray:
        """The regret at the horizon, for each seed: of the world and of the policy."""
        name = re.sub(r"[^A-Za-z0-9.=]+", "-", f"{policy_label(policy)} {title}")
        path, code = self.folder / f"{name} {seeds.start}.npz", code_of(policy)
        known = kept(path, code).get("regret", np.zeros(0))[: len(seeds)].tolist()
        for seed in track(seeds[len(known) :], name, console=Console(stderr=True)):
            run = tarry.play(
                policy, maker(seed), payoff=payoff, horizon=horizon, seed=seed, record=1
            )
            known.append(float(run.regret[-1]))
            if len(known) % 8 == 0 or len(known) == len(seeds):
                keep(path, code, regret=np.array(known))
        return np.array(known)

    def changing(self, policy: Any, seeds: range) -> list[FloatArray]:
        """The regrets in each of the worlds that change."""
        return [
            self.regrets(policy, title, maker, "cost", 150_000, seeds)
            for title, maker in worlds().items()
        ]


def steady_table(campaign: Campaign, seeds: range) -> str:
    """What following changes costs where nothing changes."""
    rows = []
    for title, (payoff, horizon, maker) in stationary().items():
        steady, ours = (
            campaign.regrets(p, title, maker, payoff, horizon, seeds) for p in (STEADY, OURS)
        )
        low, high = ratio_interval(ours, steady)
        ratio = ours.mean() / steady.mean()
        rows.append([title, shown(steady), shown(ours), f"{ratio:.2f} ({low:.2f} to {high:.2f})"])
    titles = ["nothing changes", policy_label(STEADY), policy_label(OURS), "ratio"]
    return markdown_table(titles, rows)


def ratio_interval(above: FloatArray, below: FloatArray) -> tuple[float, float]:
    """A 95 % interval of the ratio of two means, by drawing the seeds anew 4000 times."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(above), size=(4000, len(above)))
    low, high = np.quantile(above[drawn].mean(axis=1) / below[drawn].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def changing_table(campaign: Campaign, policies: Sequence[Any], seeds: range) -> str:
    """What following changes brings where something does."""
    rows = [
        [policy_label(policy), *map(shown, campaign.changing(policy, seeds))] for policy in policies
    ]
    return markdown_table(["policy", *worlds()], rows)


def tuned(campaign: Campaign) -> Iterator[tuple[Any, float]]:
    """Each setting of each rival, and the geometric mean of its regret over the worlds."""
    for choices in CHOICES:
        for policy in choices:
            means = [regret.mean() for regret in campaign.changing(policy, TUNING)]
            yield policy, float(np.exp(np.mean(np.log(means))))


def shown(values: FloatArray) -> str:
    """The mean, and the worst in brackets."""
    return f"{values.mean():.0f} ({values.max():.0f})"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.change",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="four seeds")
    parser.add_argument("--tune", action="store_true", help="settings of the rivals")
    parser.add_argument("--folder", type=Path, default=Path("results/change"), help="of the runs")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    campaign = Campaign(given.folder)
    if given.tune:
        for policy, mean in tuned(campaign):
            print(f"{mean:8.0f}  {policy_label(policy)}")
        return
    policies = (OURS, STEADY, *CHOSEN, tarry.DelayedThompson())
    print(steady_table(campaign, TUNING if given.quick else STATIONARY))
    print()
    print(changing_table(campaign, policies, TUNING if given.quick else CHANGING))


if __name__ == "__main__":
    main()
