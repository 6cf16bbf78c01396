"""A real Dask scheduler with two worker processes on the loopback interface."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import tarry
from tarry.errors import ExecutorError
from tarry.experiments.dask import connect

from .small import compare_small

PATIENCE = 60.0


@dataclass
class Cluster:
    """The processes of a cluster."""

    address: str
    workers: list[subprocess.Popen[bytes]]
    scheduler: subprocess.Popen[bytes]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers, started by the commands that the documentation shows."""
    place = tmp_path_factory.mktemp("dask")
    told = place / "scheduler.json"
    scheduler = start(
        place, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
        "--scheduler-file", str(told),
    )  # fmt: skip
    wait_until(told.exists)
    options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--scheduler-file", str(told))
    workers = [start(place, "worker", *options) for _ in range(2)]
    try:
        yield Cluster(json.loads(told.read_text())["address"], workers, scheduler)
    finally:
        for process in [*workers, scheduler]:
            process.kill()
            process.wait()


def start(place: Path, *command: str) -> subprocess.Popen[bytes]:
    """Run `dask` with this command."""
    with (place / f"{command[0]}.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *command], cwd=place, stdout=log, stderr=log
        )


def wait_until(ready: object) -> None:
    """Wait for something to become true."""
    assert callable(ready)
    end = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < end, "the cluster did not start"
        time.sleep(0.05)


def test_cluster_gives_the_local_result_and_survives_a_worker(cluster: Cluster) -> None:
    """Two worker processes give the same bits as threads, and so does one after a kill."""
    settings = {"horizon": 200_000, "runs": 12, "policies": [tarry.SE(), tarry.DelayedUCB()]}
    local = compare_small(**settings)
    wait_until(lambda: workers_of(cluster.address) == 2)
    with connect(cluster.address) as executor:
        assert executor.slots == 2
        assert compare_small(executor=executor, **settings) == local
        done: list[int] = []

        def kill_one(finished: int, _total: int) -> None:
            done.append(finished)
            if finished == 6:
                cluster.workers[0].kill()

        assert compare_small(executor=executor, progress=kill_one, **settings) == local
        executor.shutdown()
    assert done == list(range(1, 25))
    assert cluster.workers[0].wait() != 0


def workers_of(address: str) -> int:
    """How many workers have come to the scheduler."""
    try:
        with connect(address) as executor:
            return executor.slots
    except ExecutorError:
        return 0


def test_lost_scheduler_is_one_sentence(
    cluster: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A scheduler that dies ends the comparison in a sentence; what was finished is kept."""

    def kill(finished: int, _total: int) -> None:
        if finished == 3:
            cluster.scheduler.kill()

    settings = {"horizon": 200_000, "runs": 12, "folder": tmp_path}
    wait_until(lambda: workers_of(cluster.address) > 0)
    with (
        pytest.raises(ExecutorError, match=r"The Dask scheduler at '.*' is gone; finished runs"),
        connect(cluster.address) as executor,
    ):
        compare_small(executor=executor, progress=kill, **settings)
    assert len(list((tmp_path / "parts").iterdir())) >= 3
    assert "Traceback" not in capfd.readouterr().err


def test_missing_scheduler_is_one_sentence() -> None:
    """An address where nobody listens is refused, with the command that helps."""
    with (
        pytest.raises(ExecutorError, match=r"no Dask scheduler at 'tcp://127\.0\.0\.1:9'"),
        connect("tcp://127.0.0.1:9", timeout=1),
    ):
        pass
