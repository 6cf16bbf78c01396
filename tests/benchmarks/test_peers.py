"""The loop that drives other libraries, without them."""

from collections.abc import Sequence

import numpy as np
from benchmarks.peers.driver import Answer, World, drive
from benchmarks.peers.page import page
from benchmarks.peers.report import Measured, Sheet, regret_sheet
from benchmarks.peers.with_tarry import ADAPTER

import tarry


class Watcher:
    """A learner that plays the arms in turn and notes when each answer comes."""

    def __init__(self) -> None:
        self.step = 0
        self.known: dict[int, int] = {}

    def choose(self, step: int) -> int:
        """Arms 0 and 1 in turn."""
        self.step = step
        return step % 2

    def learn(self, answers: Sequence[Answer]) -> None:
        """An answer is known to the choice after this."""
        for answer in answers:
            self.known[answer.step] = self.step + 1


def small_world() -> World:
    """The delays of a small problem."""
    problem = tarry.problems.bernoulli(arms=3, max_delay=9, seed=1)
    table = problem.delays(5, np.arange(1, 61)[:, None], np.arange(3)[None, :])
    recipe = {"family": "bernoulli", "seed": "1", "draws": "5"}
    return World(table, problem.gaps("cost"), 9, reward=False, recipe=recipe)


def test_an_answer_comes_when_it_arrives() -> None:
    """The answer of step s that takes d is known to the choice at step s + d + 1, not earlier."""
    table = np.random.default_rng(1).integers(0, 6, (50, 2))
    watcher = Watcher()
    drive(watcher, World(table, np.zeros(2), 5, reward=False, recipe={}))
    due = {s: s + int(table[s - 1, s % 2]) + 1 for s in range(1, 51)}
    assert watcher.known == {s: known for s, known in due.items() if known <= 51}


def test_driven_agent_plays_as_the_simulator() -> None:
    """Asked and told by the loop of the peers, an agent chooses the arms of the simulator."""
    driven = ADAPTER.run("Agent of DelayedUCB", small_world(), 0)
    simulated = ADAPTER.run("DelayedUCB", small_world(), 0)
    assert driven.arms == simulated.arms
    assert np.isclose(driven.regret, simulated.regret)


def test_page_has_the_tables_and_what_went_wrong() -> None:
    """The page shows every row, failures included, and fills every blank of its text."""
    failed = Measured("other", "UCB", {}, trouble="it does not start")
    fine = Measured("tarry", "SE", {"cost": [0.25, 0.75]}, [100.0, 300.0])
    sheet = regret_sheet([fine, failed], ["cost"])
    setting = dict.fromkeys(("arms", "horizon", "max_delay", "runs", "python"), 7)
    text = page(sheet, Sheet("", ["what"], [["seen"]]), ["other: it does not start."], setting)
    assert "| tarry | SE | 0.50 ± 0.25 | 200 |" in text  # median of the two runs
    assert "UCB: it does not start" in text
    assert "- other: it does not start." in text
    assert "{" not in text
