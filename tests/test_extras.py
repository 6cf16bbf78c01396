"""What happens where an extra is not installed; `make check-package` tries it for real."""

import importlib
import sys

import pytest

import tarry
from tarry.cli import main
from tarry.errors import MissingExtraError
from tarry.experiments.dask import connect


def without(patch: pytest.MonkeyPatch, package: str, *modules: str) -> None:
    """Pretend that the package is not installed and that our modules were never imported."""
    for module in modules:
        importlib.import_module(module)
    for module in modules:  # one of them may have imported another
        parent, _, name = module.rpartition(".")
        patch.delitem(sys.modules, module)
        patch.delattr(sys.modules[parent], name)
    patch.setitem(sys.modules, package, None)


def check_sentence(error: BaseException, extra: str) -> None:
    """One sentence that names the command which installs the extra."""
    assert str(error).endswith(f"install it with: pip install 'tarry[{extra}]'.")
    assert "\n" not in str(error)


def test_figures_name_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without matplotlib, a plot is refused with the extra that brings it."""
    problem = tarry.problems.deterministic([1, 4], max_delay=4)
    result = tarry.compare([tarry.SE()], problems=problem, payoff="cost", horizon=50, runs=2)
    without(monkeypatch, "matplotlib", "tarry.drawing", "tarry.experiments.figures")
    with pytest.raises(MissingExtraError) as caught:
        result.plot("never.svg")
    check_sentence(caught.value, "plots")


def test_dask_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Dask, a cluster is refused with the extra that brings it."""
    without(monkeypatch, "distributed")
    with pytest.raises(MissingExtraError) as caught, connect("tcp://127.0.0.1:1"):
        pass
    check_sentence(caught.value, "dask")


@pytest.mark.parametrize("package", ["httpx", "httpx2"])
def test_routes_name_their_extra(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Without httpx, the transports are refused with the extra that brings it."""
    without(monkeypatch, package, f"tarry.live.{package}")
    with pytest.raises(MissingExtraError) as caught:
        importlib.import_module(f"tarry.live.{package}")
    check_sentence(caught.value, "live")
    assert isinstance(caught.value, ImportError)


def test_databases_name_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without psycopg, an agent in a database is refused with the extra that brings it."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError) as caught:
        tarry.Agent(arms=["a"], payoff="cost", max_delay=1.0, path="postgresql://h/d", name="x")
    check_sentence(caught.value, "postgres")


@pytest.mark.parametrize("package", ["msgspec", "starlette", "uvicorn", "prometheus_client"])
@pytest.mark.parametrize("command", [["serve"], ["key", "manage", "--keys", "never"]])
def test_the_service_names_its_extra(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    package: str,
    command: list[str],
) -> None:
    """Without its packages nothing is served, and no key is made."""
    monkeypatch.setitem(sys.modules, package, None)
    assert main(command) == 1
    assert capsys.readouterr().err.endswith("pip install 'tarry[serve]'.\n")


def test_the_client_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without httpx there is no connection."""
    without(monkeypatch, "httpx", "tarry.service.client.connection")
    with pytest.raises(MissingExtraError) as caught:
        tarry.connect("http://127.0.0.1:8090")
    check_sentence(caught.value, "serve")
