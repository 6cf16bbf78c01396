"""The benchmarks compare like with like, and their tables and figure can be made."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tarry
from benchmarks import growth, limit, report, speed, starts, targets

PROBLEM = tarry.problems.bernoulli(arms=5, max_delay=40, seed=2)
T = 1500


@pytest.mark.parametrize("name", speed.PLAIN)
@pytest.mark.parametrize("source", speed.SOURCES)
def test_plain_python_plays_the_same_arms(name: str, source: str) -> None:
    """The plain simulators do the work of the compiled ones, arm by arm, with restarts."""
    policy, simulate = speed.PLAIN[name]
    draw = speed.sources(PROBLEM, T)[source]()
    speed.check_same_arms(policy, PROBLEM, T, simulate, draw)


def test_limit_loop_draws_and_adds() -> None:
    """The limit loop meets the delays of the problem and adds the gaps of its arms."""
    steps = np.arange(1, T + 1)
    arms = (steps - 1) % 5
    regret, total = limit.run_limit(PROBLEM, "cost", T)
    assert total == PROBLEM.delays(0, steps, arms).sum()
    assert regret == pytest.approx(PROBLEM.gaps("cost")[arms].sum())


def test_every_policy_is_measured() -> None:
    """A new policy is timed too; CSE and RSE are timed as the phases of BDSE and BHSE."""
    measured = {type(policy).__name__ for policy, _ in speed.POLICIES}
    assert measured == set(tarry.POLICIES) - {"CSE", "RSE"}


def made_up() -> tuple[list[speed.Speeds], starts.Starts, starts.Long]:
    """Numbers that nobody measured."""
    rows = [speed.Row(f"P{kind}", kind, 40.0, 2.5, {}) for kind in targets.MOST_TIMES_LIMIT]
    over = dict(zip(speed.SOURCES, (120.0, 60.0, 20.0), strict=True))
    rows.append(speed.Row("SE", speed.ELIMINATION, 40.0, 3.0, over))
    speeds = speed.Speeds("made up", 16.0, rows, {"SE": dict.fromkeys(speed.SOURCES, 2e5)})
    return [speeds], starts.Starts(3.0, 0.6, 0.5, 0.01), starts.Long(200.0, 201.0, 201.0, 45.0)


def test_page_has_every_number_and_every_target() -> None:
    """The page is made of the measured numbers and says of each target whether it was met."""
    speeds, begun, long = made_up()
    found = targets.targets(speeds, begun, long)
    text = report.page(speeds, begun, long, found)
    assert all(target.met for target in found)
    assert text.count("| met |") == len(found) == 10
    assert "| SE | elimination | 3.0 | 120 | 60 | 20 |" in text
    worse = begun._replace(warm=1.6)
    missed = [t for t in targets.targets(speeds, worse, long) if not t.met]
    assert [t.measured for t in missed] == [1.6]


def test_growth_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figure has a panel for each of K, D and T, as SVG and as PNG."""
    monkeypatch.setattr(growth, "HORIZON", 200)
    monkeypatch.setattr(growth, "POLICIES", [tarry.BDSE()])
    curves: Any = growth._curves([(2, 10, 200), (3, 10, 200)], 0, 1)
    assert [curve.values for curve in curves] == [[2, 3], [2, 3]]
    panels = [growth.Panel(name, curves) for name in ("arms K", "largest delay D", "horizon T")]
    growth.save_growth(panels, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"growth.svg", "growth.png"}
