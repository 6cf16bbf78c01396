"""What an installed tarry must do, run by check.py in environments without the sources.

`python -I smoke.py EXTRA...` checks the core, that each named extra works, and that each other
one is missed in one sentence. It needs nothing but tarry and what was installed with it.
"""

import importlib
import importlib.metadata
import importlib.resources
import subprocess
import sys
from pathlib import Path
from typing import Any

import tarry
from tarry.errors import MissingExtraError

PROBLEM = tarry.problems.deterministic([1, 4], max_delay=4)


def core() -> None:
    """The names of the README, the compiled simulator, results on disk, an agent, the command."""
    assert "site-packages" in str(tarry.__file__), tarry.__file__
    assert tarry.__version__ == importlib.metadata.version("tarry")
    assert (importlib.resources.files(tarry) / "py.typed").is_file()
    for name in tarry.__all__:
        getattr(tarry, name)
    run = tarry.play(tarry.BDSE(), PROBLEM, payoff="cost", horizon=2000, mode="compiled")
    again = tarry.play(tarry.BDSE(), PROBLEM, payoff="cost", horizon=2000, mode="interpreted")
    assert run.arms.tolist() == again.arms.tolist()
    result = tarry.compare([tarry.SE()], problems=PROBLEM, payoff="cost", horizon=100, runs=2)
    result.save("results")
    assert len(tarry.load("results").final()) == 1
    with tarry.Agent(arms=["a", "b"], payoff="cost", max_delay=2.0, path="agent.db") as agent:
        agent.tell(agent.ask().id, delay=0.1)
    assert command("-m", "tarry", "--version") == f"tarry {tarry.__version__}"
    assert "BDSE" in command("-m", "tarry", "policies")
    script = Path(sys.executable).parent / "tarry"
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"tarry {tarry.__version__}"


def command(*arguments: str) -> str:
    """What Python prints with these arguments."""
    call = [sys.executable, "-I", *arguments]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()


def plots() -> None:
    """A comparison is drawn into a file."""
    result = tarry.compare([tarry.SE()], problems=PROBLEM, payoff="cost", horizon=100, runs=2)
    result.plot("regret.svg")
    assert Path("regret.svg").read_text().lstrip().startswith("<?xml")


def dask() -> None:
    """A comparison on a cluster gives what it gives here."""
    from tarry.experiments.dask import connect

    with connect("tcp://127.0.0.1:1", timeout=1):  # without Dask, it does not come to the address
        pass


def dask_cluster() -> None:
    """The same on a cluster in this process."""
    cluster = importlib.import_module("distributed").LocalCluster
    connect = importlib.import_module("tarry.experiments.dask").connect
    here = tarry.compare([tarry.SE()], problems=PROBLEM, payoff="cost", horizon=100, runs=2)
    with (
        cluster(n_workers=1, processes=False, dashboard_address=None) as workers,
        connect(workers.scheduler_address) as executor,
    ):
        there = tarry.compare(
            [tarry.SE()], problems=PROBLEM, payoff="cost", horizon=100, runs=2, executor=executor
        )
    assert str(there.final()) == str(here.final())


def live() -> None:
    """A request goes along the route that the agent chose."""
    for package in ("httpx", "httpx2"):
        transport = importlib.import_module(f"tarry.live.{package}").Transport
        http = importlib.import_module(package)

        def answer(request: object, http: Any = http) -> object:
            return http.Response(200, text="here")

        routes = {"a": "http://a.example", "b": "http://b.example"}
        inner = http.MockTransport(answer)
        with http.Client(transport=transport(routes, max_delay=2.0, transport=inner)) as client:
            assert client.get("http://routed/items").text == "here"


def postgres() -> None:
    """A database that is not there is refused in one sentence; with the driver it is tried."""
    said = ""
    try:
        tarry.Agent(
            arms=["a"], payoff="cost", max_delay=1.0, path="postgresql://127.0.0.1:1/d", name="x"
        )
    except tarry.errors.JournalError as error:
        said = str(error)
    assert "cannot be used" in said, said


def serve() -> None:
    """A service starts, its files are there, and an agent of it is asked and told."""
    importlib.import_module("tarry.service.extra").check_extra()
    call = [sys.executable, "-I", "-m", "tarry", "serve", "--port", "0", "--store", "agents"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(3)]
        address = said[-1].split()[4].rstrip("/;")
        try:
            with tarry.connect(address) as connection:
                agent = connection.agent("a", arms=["x", "y"], payoff="cost", max_delay=2.0)
                assert agent.tell(agent.ask(), 0.1) == "returned"
            http = importlib.import_module("httpx")
            for page in ("/", "/dwell.js", "/openapi.json", "/metrics"):
                assert http.get(address + page).status_code == 200, page
        finally:
            process.terminate()
        assert process.wait(30) == 0


WORKS = {
    "plots": plots,
    "dask": dask_cluster,
    "live": live,
    "postgres": postgres,
    "serve": serve,
}
MISSED = {"plots": plots, "dask": dask, "live": live, "postgres": postgres, "serve": serve}


def missed(extra: str) -> None:
    """Without the extra, the feature says in one sentence which extra it needs."""
    try:
        MISSED[extra]()
    except MissingExtraError as error:
        sentence = str(error)
        assert f"pip install 'tarry[{extra}]'" in sentence, sentence
        assert "\n" not in sentence
        print(f"  without {extra}: {sentence}")
    else:
        raise AssertionError(f"{extra} works though it is not installed")


def main(installed: list[str]) -> None:
    """Check the core, what is installed and what is not."""
    core()
    for extra, works in WORKS.items():
        if extra in installed or "all" in installed:
            works()
            print(f"  {extra} works")
        else:
            missed(extra)


if __name__ == "__main__":
    main(sys.argv[1:])
