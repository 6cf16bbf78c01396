"""A small program of a user, as strictly typed as ours: mypy must know every type in it.

`make lint` checks it with the sources, `make check-package` with nothing but the installed package,
and the tests run it.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, assert_type

import numpy as np
import numpy.typing as npt

import tarry
from tarry.ledger import Ledger
from tarry.live import Told
from tarry.plays import Plays
from tarry.problems import Problem
from tarry.randomness import Random


class StubbornRule(NamedTuple):
    """Always the same arm."""

    arm: int

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """The arm."""
        return self.arm


@dataclass(frozen=True)
class Stubborn:
    """A user's own policy: it satisfies the protocol without a base class."""

    arm: int = 0
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    needs_horizon: ClassVar[bool] = False

    def start(self, setting: tarry.Setting) -> StubbornRule:
        """A rule for this setting."""
        assert_type(setting.max_delay, int)
        return StubbornRule(min(self.arm, setting.arms - 1))


def simulate() -> tarry.Run:
    """One run."""
    problem = tarry.problems.deterministic([1, 4], max_delay=4)
    assert_type(problem, Problem)
    assert_type(problem.best("cost"), int)
    run = tarry.play(tarry.BDSE(), problem, payoff="cost", horizon=100, mode="interpreted")
    assert_type(run, tarry.Run)
    assert_type(run.steps, npt.NDArray[np.int64])
    assert_type(run.regret, npt.NDArray[Any])
    assert_type(run.failed_at, int | None)
    return run


def compare() -> tarry.Result:
    """A comparison, with a policy of the user's own."""
    result = tarry.compare(
        [Stubborn(arm=1), tarry.Uniform()],
        problems=lambda seed: tarry.problems.bernoulli(2, 10, seed=seed),
        payoff="reward",
        horizon=50,
        runs=2,
    )
    assert_type(result, tarry.Result)
    assert_type(result.runs, int)
    return result


def read() -> str:
    """A log, and what it says."""
    log = tarry.Log.of(["a", "b"], [1.5, 2.0], [True, False], max_delay=3.0)
    assert_type(log, tarry.Log)
    assert_type(log.means()["a"].low, float)
    assert_type(log.differences()["a", "b"].difference, float)
    assert_type(log.best("reward")["a"], float)
    assert_type(log.decide("cost").stop, bool)
    return log.summary("reward")


def route(folder: Path) -> Told:
    """An agent in a program."""
    path = folder / "routes.db"
    with tarry.Agent(arms=["fra", "ams"], payoff="cost", max_delay=2.0, path=path) as agent:
        assert_type(agent, tarry.Agent)
        play = agent.ask()
        assert_type(play, tarry.Play)
        assert_type(play.arm, str)
        told = agent.tell(play.id, delay=0.113)
        assert_type(told, Told)
    return told


def main() -> tuple[int, int, Told]:
    """Everything once."""
    assert read().startswith("b has the longest mean")
    with tempfile.TemporaryDirectory() as folder:
        return len(simulate().arms), compare().runs, route(Path(folder))
