"""The measurement of policies with contexts, and of the peers beside them, in a short form."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.contexts import floor as floor_module
from benchmarks.contexts import niches as niches_module
from benchmarks.contexts.floor import Seen, floors, lost, measure_floors, parts_of
from benchmarks.contexts.niches import measure_niches, niches
from benchmarks.contexts.oracle import FORMS, measure_waiting
from benchmarks.contexts.page import page
from benchmarks.contexts.runs import FIXED, OURS, measure
from benchmarks.contexts.turned import measure_turn, named
from benchmarks.contexts.waiting_page import waiting_part
from benchmarks.contexts.worlds import ARMS, FIRST_SEED, KEPT, World, simulated
from benchmarks.peers import reach
from benchmarks.peers.contexts import drive_contexts
from benchmarks.peers.contextual import Entry, compare, requests_of, told
from benchmarks.peers.contextual_page import contexts_page
from benchmarks.peers.driver import ContextAnswer
from benchmarks.peers.installs import Peer
from benchmarks.peers.with_tarry import ADAPTER
from benchmarks.peers.worker import run_requests

import tarry
from tarry.live.machine import OPTION
from tarry.problems import Contextual, log_linear


def small(key: str, horizon: int) -> World:
    """One of the worlds with few arms and requests, for a few steps."""

    def problem(number: int) -> Contextual:
        return log_linear(3, 2, 50, FIRST_SEED + number, contexts=20)

    world = next(world for world in simulated() if world.key == key)
    return world._replace(horizon=horizon, problem=problem)


@pytest.mark.xdist_group("survival")
def test_campaign_in_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Worlds are played, kept, not played again, and come to a page with its verdicts."""
    worlds = [small("segments cost", 200)]
    few = list(niches())[:1]
    results = measure(worlds, tmp_path, runs=2)
    assert (results["segments cost", OURS] < 1).all()
    again = measure(worlds, tmp_path, runs=2)
    assert all((again[key] == results[key]).all() for key in results)
    monkeypatch.setenv(OPTION, "never")
    turn = measure_turn(tmp_path, 1, 50, worlds[0])
    assert list(turn) == list(named())
    monkeypatch.setattr(niches_module, "niches", lambda: few)
    rare = measure_niches(tmp_path, 2, 100)
    assert all(shares.shape == (2, 2) for shares in rare.values())
    wait = measure_waiting(tmp_path, 1, 60)
    assert all((np.diff(shares) >= 0).all() for shares in wait.values())
    least = {"five segments": np.array([[0.001, 0.002], [0.003, 0.004]])}
    told = waiting_part(wait, {}, "")
    text = page(worlds, results, turn, rare, told, least, micros=1.0, live=2.0)
    assert "oracle, share 0.25" in text
    assert "| five segments | 0.0020 ± 0.0010 | 0.0030 ± 0.0010 |" in text
    assert few[0].title in text
    assert "five segments" in text
    assert FIXED in text
    assert "11 more worlds are not measured" in text
    assert "A mixture of the experts" in text.replace("\n", " ")


@pytest.mark.xdist_group("survival")
@pytest.mark.parametrize("world", list(simulated())[::2], ids=lambda world: world.title)
def test_the_player_of_the_floor_knows_the_family(world: World) -> None:
    """The states that made a world give its mean payoffs, and its laws: chances sum up to 1."""
    problem = world.problem(3)
    means, kinds = problem.context_means, problem.contexts(FIRST_SEED + 3, np.arange(1, 61))
    for i, part in enumerate(parts_of(world, 3, 60)):
        if len(part.asked) == 1:
            wanted = means[[i]]
        else:
            wanted = means[: len(part.asked)]
            assert np.array_equal(part.rows[:, 0], problem.features[kinds])
        for arm in range(part.delays.shape[1]):
            found = part.curves.means(part.truth[[arm]], part.asked[:, arm])[0]
            assert found == pytest.approx(wanted[:, arm], abs=1e-9)
        values = part.curves.values
        for age in (1, values[-1] // 3, values[-1]):  # what is known of a play as old as that
            outcomes = [*values[values < age], values[-1]]
            chances = [
                Seen.before(age, part.curves, np.array([0]), np.array([d]), part.asked[:1, 0])
                for d in outcomes
            ]
            total = sum(np.exp(one.likelihood(part.curves, part.truth[:1]))[0] for one in chances)
            assert total == pytest.approx(1.0)


@pytest.mark.xdist_group("survival")
def test_floor_in_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a share of what uniform play loses, falls as more is seen, and is kept."""
    worlds = [world for world in simulated() if world.key.startswith(("useless", "segments"))]
    for world in worlds[::2]:
        found = floors(world, 3, (4, 200, 500))
        assert (found >= -1e-9).all()
        assert (found[0] > 0.1).all()
        assert (found[-1] < 0.2 * found[0]).all()
    monkeypatch.setattr(floor_module, "simulated", lambda: worlds)
    least = measure_floors(tmp_path, 1, (2, 4))
    again = measure_floors(tmp_path, 1, (2, 4), kept_only=True)
    assert list(least) == [world.title for world in worlds[::2]]
    assert all(np.array_equal(least[title], again[title]) for title in least)
    paid = np.array([[[1.0, 0.0]], [[0.0, 2.0]]])  # two states, one request, two arms
    assert lost(paid, np.ones(1)) == pytest.approx(1.0)  # best 2 and 2 in uniform plays, each 1


@pytest.mark.xdist_group("survival")
def test_peers_meet_the_requests_of_the_simulator() -> None:
    """A driven learner hears of an answer when it arrives, and its regret is the simulator's."""
    world = small("weibull cost", 400)
    requests = requests_of(world, 1, 400)
    problem, seed = world.problem(1), FIRST_SEED + 1
    run = tarry.play(tarry.Uniform(), problem, payoff="cost", horizon=400, seed=seed)

    class Same:
        """Plays the arms of the simulator and notes when it hears of them."""

        heard: dict[int, int] = {}  # noqa: RUF012  # one test, one object

        def choose(self, step: int, context: Any) -> int:
            """The arm that the simulator played."""
            self.step = step
            return int(run.arms[step - 1])

        def learn(self, answers: Sequence[ContextAnswer]) -> None:
            """Note them."""
            self.heard |= {answer.step: self.step for answer in answers}

    same = Same()
    done = drive_contexts(same, requests)
    assert done.regret == pytest.approx(run.regret[-1])
    due = {s: s + int(d) for s, d in enumerate(run.delays, start=1)}
    assert same.heard == {s: end for s, end in due.items() if end <= 400}


@pytest.mark.xdist_group("survival")
def test_peers_are_tuned_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the settings tried, each world gets the best of another seed; the page says all."""
    monkeypatch.setenv(OPTION, "never")
    peer = Peer("river", "with_tarry", "", "tarry")
    settings = [{"max_delay": 50, "payoff": "cost", "half_life": h} for h in (500, 50)]

    def ask(peer: Peer, task: dict[str, Any]) -> Any:
        if task["do"] == "settings":
            return {"documented": settings[0], "tried": settings}
        return run_requests(ADAPTER, task["setting"], task["world"])

    found = list(compare([small("weibull cost", 40)], [peer], ask, tmp_path, runs=2))
    own, documented, tuned = found[0][1]
    assert [entry.library for entry in (own, documented, tuned)] == ["tarry", "river", "river"]
    assert len(list((tmp_path / f"peers-{KEPT}").glob("tuning*"))) == 2
    text = contexts_page(found, 2, {"river": 2})
    assert "{" not in text
    assert told(settings[0]) in text or told(settings[1]) in text
    monkeypatch.setattr(reach, "FORMS", dict(list(FORMS.items())[:2]))
    monkeypatch.setattr(reach, "RUNS", 2)
    worse = [entry._replace(shares=entry.shares / 9) for entry in (documented, tuned)]
    world = found[0][0]._replace(problem=partial(log_linear, ARMS, 2, 50, contexts=20))
    judged = reach.judge([(world, [own, *worse])], [peer], ask, tmp_path, 1)
    assert [len(shares) for shares in (judged[0].shares, *judged[0].others.values())] == [2] * 4
    again = reach.judge([(world, [own, *worse])], [peer], ask, tmp_path, 1, kept_only=True)
    assert reach.reach_table(again) == reach.reach_table(judged)
    assert "within reach" in contexts_page(found, 2, {"river": 2}, judged=judged)
    assert reach.judge(found[:0], [peer], ask, tmp_path, 2) == []


def test_ratios_within_reach() -> None:
    """Over the best peer, in the same runs, with the interval of the ratio."""
    shares = np.array([0.2, 0.4, 0.6])
    others = {OURS: shares / 2, "oracle, share 0": np.array([0.1, 0.3, 0.2])}
    one = reach.Judged(small("weibull cost", 40), "river, `beta 1`", shares, others)
    row = reach.reach_table([one]).splitlines()[-1]
    assert "| river, `beta 1` | 0.50 ± 0.00 | 0.50 ± 0.62 (share 0) |  |" in row


def test_verdict_about_peers() -> None:
    """At most half of the best peer's regret, or it is said where not."""
    world = small("weibull cost", 300)
    entries = [
        Entry("tarry", False, OURS, np.array([0.1, 0.2]), 0.0),
        Entry("river", False, "beta 1", np.array([0.2]), 3.0),
        Entry("river", True, "beta 5", np.array([0.4]), 3.0),
    ]
    text = contexts_page([(world, entries)], 2, {"river": 1})
    assert "0.50 (0.50 to 0.50)" in text
    assert "in 1 of 1 worlds." in text
    assert "somebody to compare with" not in text
    blind = contexts_page([(world, entries)], 2, {}, {world.key: np.array([0.06, 0.08])})
    assert "has 0.070 with cost, 0.30 of the best peer's in the runs that both have." in blind
    entries[1] = entries[1]._replace(shares=np.array([0.15]))
    assert "not in Weibull, log-linear scales, cost (0.67)." in contexts_page(
        [(world, entries)], 2, {"river": 1}
    )
