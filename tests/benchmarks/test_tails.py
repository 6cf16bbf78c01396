"""The campaign behind docs/tails.md: what is kept, what is played again, what the page says."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from benchmarks.kept import code_of, keep, kept, modules_behind
from benchmarks.tails import figure, runs
from benchmarks.tails.first import FirstThompson
from benchmarks.tails.page import page
from benchmarks.tails.runs import FIRST, OURS, RIVAL, Tail, measure
from benchmarks.tails.verdicts import Outcome, share_of, verdict, worst_no_worse
from benchmarks.tails.worlds import PAYOFFS, World, all_worlds, always, small_problems, two_points

import tarry
from tarry.problems.problem import Payoff

PAIR = two_points(6, 0.9, 0.1)
WORLDS = [World("small", "0 or 6", payoff, 300, 6, partial(always, PAIR)) for payoff in PAYOFFS]


def test_interrupted_campaigns_go_on(tmp_path: Path) -> None:
    """Half of the runs, then the rest, are the runs of one go; what is kept is not played again."""
    whole = measure(WORLDS, tmp_path / "whole")
    measure([world._replace(runs=3) for world in WORLDS], tmp_path / "parts")
    parts = measure(WORLDS, tmp_path / "parts")
    assert all(np.array_equal(whole[key].regret, parts[key].regret) for key in whole)
    files = sorted((tmp_path / "parts").iterdir())
    code = code_of(tarry.SurvivalThompson())
    path = next(file for file in files if OURS in file.name)
    keep(path, code, regret=np.full(6, 77.0), wrong=np.zeros(6))
    again = measure(WORLDS, tmp_path / "parts")
    assert sum(bool((tail.regret == 77).all()) for tail in again.values()) == 1


def test_runs_of_other_code_are_not_used(tmp_path: Path) -> None:
    """A file says which code made it, and serves no other."""
    path = tmp_path / "some.npz"
    keep(path, "this", regret=np.ones(3))
    assert kept(path, "this")["regret"].tolist() == [1.0, 1.0, 1.0]
    assert kept(path, "that") == {}
    assert kept(tmp_path / "none.npz", "this") == {}
    assert "tarry.policies.survival.evidence" in modules_behind("tarry.policies.survival.thompson")
    assert code_of(tarry.SurvivalUCB()) != code_of(tarry.SurvivalUCB(z=0.8))


@pytest.mark.parametrize(("means", "wrong"), [((0.9, 0.1), False), ((0.1, 0.9), True)])
def test_who_stays_on_the_worse_arm_ends_on_it(means: tuple[float, float], wrong: bool) -> None:
    """Plays of arm 1 only, at the end, are plays of a wrong arm if arm 0 is the better one."""

    class Stubborn:
        payoffs = ("cost",)
        needs_horizon = False

        def start(self, setting: tarry.Setting) -> tarry.policies.Rule:
            return tarry.SurvivalThompson().start(setting._replace(reward=means[0] < means[1]))

    world = World("small", "", "cost", 1000, 1, partial(always, two_points(5, *means)))
    regret, ended_wrong = runs.one_run(world, Stubborn(), 0)
    assert ended_wrong == wrong
    assert (regret > 300) == wrong


def small_results() -> runs.Results:
    """All policies on the small worlds, ours five times as bad as the others."""
    return {
        (world.key, name): Tail(np.linspace(1, 2, 20) * (5 if name == OURS else 1), np.eye(20)[0])
        for world in WORLDS
        for name in runs.policies()
        if name != FIRST
    }


def test_page_and_figure_show_every_policy(tmp_path: Path) -> None:
    """The page has a table for each group that was played, and says where a demand is not met."""
    results = small_results()
    text = page(WORLDS, results)
    missed = "0 or 6: 5 (5.00 to 5.00), beyond chance"
    assert f"| 0 of 2 | 0 | cost, {missed}; reward, {missed} |" in text
    assert "| no more runs that end on a wrong arm | 2 of 2 | 0 | - |" in text
    assert "| cost: 0 or 6 | SurvivalThompson | 20 | 7.5 | 7.5 | 9.95 | 10 | 10 | 5 % |" in text
    assert f"|  | {RIVAL} | 20 | 1.5 |" in text
    figure.draw(WORLDS, results, tmp_path / "tails.svg")
    assert (tmp_path / "tails.svg").stat().st_size > 5000


def test_families_stand_next_to_the_first_definition() -> None:
    """Means, quantiles and worst runs over those of the first definition, and in groups."""
    world = World("family", "some", "cost", 300, 200, partial(always, PAIR), first=200)
    regret = np.linspace(1, 2, 200)
    results = {
        (world.key, OURS): Tail(1.05 * regret, np.zeros(200)),
        (world.key, FIRST): Tail(regret, np.zeros(200)),
    }
    text = page([*WORLDS, world], results | small_results())
    same = "1.05 (1.05 to 1.05)"
    assert f"| cost, some | 200 | {' | '.join([same] * 5)} | 0 of 2 | 0 | 0 |" in text
    assert "mean at most 1.1 times the first definition's | 1 of 1 | 1 | - |" in text
    worst = "cost, some: 1.05, beyond chance"
    assert f"worst run no worse than the first definition's | 0 of 1 | 0 | {worst} |" in text
    assert "| 0 of 1 | 0 | all four: 2 of 2 are worse (0.16 to 1.00), undecided |" in text
    assert worst_no_worse(regret, regret[::-1]) == (1, 2)


def test_wrong_ends_are_compared_as_a_coin_would() -> None:
    """Of six wrong ends all ours: beyond chance, 1 in 32; of five, or none at all: undecided."""
    assert share_of(0, 0) == (0.5, 0.0, 1.0)
    assert share_of(5, 5)[1] < 0.5 < share_of(6, 6)[1]
    assert share_of(49, 95)[1:] == pytest.approx((0.411, 0.620), abs=1e-3)


def test_figures_are_told_from_chance_by_their_intervals() -> None:
    """Met or not by the figure itself; sure, or undecided, by the interval."""
    outcomes = [
        Outcome("a", 1.0, 0.9, 1.05, 1.1),
        Outcome("b", 1.0, 0.9, 1.2, 1.1),
        Outcome("c", 1.2, 1.0, 1.3, 1.1),
        Outcome("d", 1.2, 1.15, 1.3, 1.1, "12 for 10"),
        Outcome("e", 3, 3, 3, 0),
    ]
    missed = "c: 1.2 (1.00 to 1.30), undecided; d: 12 for 10 (1.15 to 1.30), beyond chance"
    row = ["that", "2 of 5", "1", f"{missed}; e: 3, beyond chance"]
    assert verdict("that", outcomes) == row


def test_first_definition_gives_arms_up() -> None:
    """In two of a hundred runs on the pair of the example it plays the better arm a few times."""
    pair = two_points(100, 0.5, 0.4)
    run = tarry.play(
        FirstThompson(), pair, payoff="cost", horizon=2000, seed=60, mode="interpreted"
    )
    assert (run.arms == 1).sum() <= 5


@pytest.mark.parametrize(("payoff", "lost"), [("cost", 71.807), ("reward", 84.806)])
def test_first_definition_is_the_one_that_was(payoff: Payoff, lost: float) -> None:
    """Regret of the code of that time in the first steps on an instance of the page."""
    problem = tarry.problems.bernoulli(30, 5000, seed=500_000)
    run = tarry.play(
        FirstThompson(), problem, payoff=payoff, horizon=3000, seed=500_000, mode="interpreted"
    )
    assert run.regret[-1] == pytest.approx(lost, abs=6e-4)


def test_problems_are_as_different_as_the_page_says() -> None:
    """Two to five arms, D from 2 to 500, smallest gaps from .02 to .5, and all groups."""
    problems = [problem for problem, _ in small_problems().values()]
    assert {problem.arms for problem in problems} == {2, 3, 5}
    assert {problem.max_delay for problem in problems} >= {2, 500}
    gaps = [np.sort(p.gaps(payoff))[1] for p in problems for payoff in ("cost", "reward")]
    assert min(gaps) == pytest.approx(0.02)
    assert max(gaps) == pytest.approx(0.5)
    keys = [world.key for world in all_worlds(quick=False)]
    assert len(set(keys)) == len(keys)
