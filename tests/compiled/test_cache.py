"""Machine code on disk: found by the next process, and never that of other sources."""

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tarry
from tarry.compiled import cache
from tarry.fingerprint import source_fingerprint
from tarry.policies.own_code import stands_alone

PLAY = """
import json
from pathlib import Path
import tarry
problem = tarry.problems.deterministic([1, 7, 8], max_delay=8)
{before}
run = tarry.play({policy}, problem, payoff="cost", horizon=600)
from tarry.compiled import cache
from tarry.simulation.machine import LOOP
stats = LOOP.kept.stats
own = [loop.stats for loop in LOOP._users.values()]
print(json.dumps(dict(
    arms=run.arms.tolist(), mode=run.mode, home=tarry.__file__,
    hits=sum(stats.cache_hits.values()), misses=sum(stats.cache_misses.values()),
    cache=str(cache.cache_directory()),
    own_hits=sum(sum(each.cache_hits.values()) for each in own),
)))
"""

USER_RULE = """
from typing import NamedTuple
import helper

class Rule(NamedTuple):
    arms: int
    def select(self, ledger, plays, row, now, rng):
        return choose(self.arms, plays.number[row])

choose = helper.choose

class Policy:
    def start(self, setting):
        return Rule(setting.arms)
"""


class Sandbox:
    """A copy of the package, with processes that see this copy only."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = root / "tarry"
        original = Path(tarry.__file__).parent
        shutil.copytree(original, self.package, ignore=shutil.ignore_patterns("compiled-*"))

    def play(self, policy: str = "tarry.SE()", before: str = "") -> Any:
        """What a fresh process tells of a run."""
        chosen = {"PYTHONPATH": str(self.root), "HOME": str(self.root / "home")}
        dropped = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "NUMBA_JIT_COVERAGE")
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        done = subprocess.run(
            [sys.executable, "-c", PLAY.format(policy=policy, before=before)],
            env={**kept, **chosen},
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        told = {**json.loads(done.stdout), "said": done.stderr}
        assert told["home"].startswith(str(self.root))
        assert told["mode"] == "compiled"
        return told

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace some words of a source file."""
        path = self.package / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """A copy of the package of this test's own."""
    return Sandbox(tmp_path)


WIDTH = "math.sqrt(2.0 * log_term / max(count, 1))"


def test_cache_is_found_again_and_never_stale(sandbox: Sandbox) -> None:
    """A second process compiles nothing; one that sees an edited helper does, and goes its way.

    The helper stands two modules away from the loop. The first compilation is announced.
    """
    first = sandbox.play(before="import tarry.compiled.announce as a; a.PATIENCE = 0.01")
    second = sandbox.play()
    assert (first["hits"], first["misses"]) == (0, 1)
    assert first["said"] == "tarry: compiling SERule (once for this version) ...\n"
    assert (second["hits"], second["misses"]) == (1, 0)
    assert second["arms"] == first["arms"]
    sandbox.edit("policies/elimination/widths.py", f"return {WIDTH}", f"return 0.01 * {WIDTH}")
    edited = sandbox.play()
    assert (edited["hits"], edited["misses"]) == (0, 1)
    assert edited["arms"] != first["arms"]
    sandbox.edit("policies/elimination/widths.py", f"return 0.01 * {WIDTH}", f"return {WIDTH}")
    back = sandbox.play()
    assert (back["hits"], back["misses"], back["arms"]) == (1, 0, first["arms"])


def test_sources_edited_under_a_running_process(sandbox: Sandbox) -> None:
    """A process whose sources change before it compiles leaves nothing for others to find."""
    edit = (
        "source = Path(tarry.policies.baselines.uniform.__file__); "
        "source.write_text(source.read_text().replace('rng.integers(self.arms)', '0'))"
    )
    running = sandbox.play("tarry.Uniform()", edit)
    assert set(running["arms"]) == {0, 1, 2}
    assert running["cache"] == "None"
    assert not [file for file in sandbox.root.rglob("*.nb?") if file.is_file()]


def test_user_rules_are_never_stale(sandbox: Sandbox) -> None:
    """A rule outside the package follows every edit of it and of what it imports.

    What was compiled once is found by the next process, also of a rule that a script defines.
    """
    (sandbox.root / "mine.py").write_text(USER_RULE)
    helper = sandbox.root / "helper.py"
    # The script plays a rule of its own, too, which never changes.
    script = USER_RULE.replace("helper.choose", "lambda arms, n: 1") + (
        "import mine\n"
        "own = tarry.play(Policy(), problem, payoff='cost', horizon=20)\n"
        "assert set(own.arms) == {1}, own.arms\n"
        "assert own.mode == 'compiled', own.why\n"
    )
    for expected, hits in ((0, 0), (2, 1), (0, 2)):
        helper.write_text(f"def choose(arms, step):\n    return {expected} % arms\n")
        told = sandbox.play("mine.Policy()", script)
        assert set(told["arms"]) == {expected}
        assert told["hits"] == told["misses"] == 0
        assert told["own_hits"] == hits


def test_machine_code_from_installed_packages_is_not_kept() -> None:
    """Of an installed package only names are read, so its changes would go unnoticed."""

    class Alone(NamedTuple):
        arms: int

        def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> int:
            return math.floor(self.arms / 2)

    class Leaning(NamedTuple):
        arms: int

        def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> int:
            return len(str(pytest.approx(self.arms)))

    assert stands_alone(Alone(3))
    assert not stands_alone(Leaning(3))


def test_cache_goes_where_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NUMBA_CACHE_DIR moves the cache; where that is in the way, the user's own; else nowhere."""
    monkeypatch.setattr(tarry, "_imported_at", math.inf)
    blocked = tmp_path / "file"
    blocked.write_text("in the way")

    def directory(chosen: str, own: str) -> Path | None:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / chosen))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / own))
        return cache.cache_directory.__wrapped__()

    name = f"compiled-{source_fingerprint()}-{cache._toolchain()}"
    assert directory("chosen", "own") == tmp_path / "chosen" / name
    assert directory("file", "own") == tmp_path / "own" / "tarry" / name
    assert directory("file", "file") is None


def test_caches_of_old_sources_are_dropped(tmp_path: Path) -> None:
    """The newest two caches of other sources are spared, older ones are deleted."""
    for age in range(5):
        directory = tmp_path / f"compiled-{age}"
        directory.mkdir()
        os.utime(directory, (1000 - age, 1000 - age))
    cache._drop_older(tmp_path, keep="compiled-4")
    left = sorted(directory.name for directory in tmp_path.iterdir())
    assert left == ["compiled-0", "compiled-1", "compiled-4"]
