"""The runner: what happens when something goes wrong half-way."""

import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import tarry
from tarry.errors import ExecutorError, PolicyError
from tarry.experiments import runner
from tarry.experiments.compare import run_experiment
from tarry.experiments.experiment import Case, Experiment
from tarry.policies import Setting

from .small import coins, compare_small


class BreakingExecutor(Executor):
    """Plays some tasks in place, then breaks down."""

    def __init__(self, good: int) -> None:
        self.good = good
        self._max_workers = 1

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Play it now."""
        future: Future[Any] = Future()
        self.good -= 1
        if self.good < 0:
            future.set_exception(BrokenExecutor("a worker died"))
        else:
            future.set_result(function(*args, **kwargs))
        return future


def test_broken_executor_keeps_finished_runs(tmp_path: Path) -> None:
    """When workers break down one sentence says so, and the comparison goes on elsewhere."""
    with pytest.raises(ExecutorError, match="a worker died"):
        compare_small(folder=tmp_path, executor=BreakingExecutor(good=3))
    assert len(list((tmp_path / "parts").iterdir())) == 3
    assert compare_small(folder=tmp_path) == compare_small()


def test_workers_with_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results of other code than ours are not mixed in."""
    monkeypatch.setattr(runner, "source_fingerprint", lambda: "other")
    with pytest.raises(ExecutorError, match="another version of tarry"):
        compare_small()


@dataclass(frozen=True)
class Spoilt:
    """A policy of a user that chooses an arm that does not exist, in some worlds."""

    payoffs: ClassVar[tuple[str, ...]] = ("cost",)
    needs_horizon: ClassVar[bool] = False

    def start(self, setting: Setting) -> Any:
        """A rule that always chooses arm 7."""
        return tarry.Uniform().start(setting._replace(arms=setting.arms + 50))


def test_failing_policy_stops_the_comparison(tmp_path: Path) -> None:
    """An error of a policy comes through as it is, and what is finished stays."""
    with pytest.raises(PolicyError, match="chose an arm outside"):
        compare_small(policies=[tarry.SE(), Spoilt()], folder=tmp_path, workers=1)


def test_running_threads_end_when_the_experiment_is_given_up() -> None:
    """After an interruption no thread goes on for the rest of a long run."""

    def stop(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    cases = [Case("short", coins, 100), Case("endless", coins, 10**12)]
    experiment = Experiment({"Uniform": tarry.Uniform()}, cases, "cost", runs=1)
    with pytest.raises(KeyboardInterrupt, match="nothing is kept without folder"):
        run_experiment(experiment, workers=2, progress=stop)


def test_number_of_workers_is_that_of_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a number there is one thread for each core that the process may use."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 3, 7}, raising=False)
    assert runner.worker_count(None) == 3
    assert runner.worker_count(2) == 2


@pytest.mark.parametrize(("cores", "workers"), [(5, 5), (None, 1)])
def test_number_of_workers_where_nobody_tells_the_cores_of_a_process(
    monkeypatch: pytest.MonkeyPatch, cores: int | None, workers: int
) -> None:
    """Outside of Linux all cores count, and one where even their number is not known."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert runner.worker_count(None) == workers


def test_pool_of_a_user_is_left_open() -> None:
    """An executor of the caller is used, not shut down."""
    with ThreadPoolExecutor(1) as executor:
        compare_small(executor=executor)
        assert executor.submit(int, "3").result() == 3
