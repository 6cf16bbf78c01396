"""Numbers that rules of a user's own are handed: the same ones in every mode."""

from typing import Any, NamedTuple

import numpy as np

import tarry
from tarry.arrays import IntArray
from tarry.ledger import Ledger
from tarry.logs.replay import play_queues
from tarry.policies import Setting

ROOT = 46341  # the square of which is beyond 32 bits


class Squaring(NamedTuple):
    """Reckons with all whole numbers that it is handed."""

    crowding: int
    products: IntArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """The second arm."""
        self.products[0] = plays.number[row] * ROOT * ROOT
        return 1

    def returned(self, plays: Any, row: int, now: int, rng: Any) -> None:
        """Products beyond 32 bits."""
        self.products[1] = row * ROOT * ROOT
        self.products[2] = plays.arm[row] * ROOT * ROOT
        self.products[3] = plays.ahead[row] * ROOT * ROOT
        self.products[4] = plays.delay[row] ** 2
        self.products[5] = plays.start[row] * now * ROOT


class SquaringPolicy:
    """Starts the rule, and keeps it to be looked at."""

    def start(self, setting: Setting) -> Squaring:
        """The rule."""
        self.rule = Squaring(1, np.zeros(6, np.int64))
        return self.rule


def test_whole_numbers_are_the_same_in_every_mode() -> None:
    """Also where their products do not fit into 32 bits."""
    problem = tarry.problems.deterministic([1, ROOT], max_delay=ROOT)
    policy: Any = SquaringPolicy()
    found = []
    modes: tuple[Any, ...] = ("compiled", "interpreted")
    for mode in modes:
        tarry.play(policy, problem, payoff="cost", horizon=ROOT + 2, mode=mode, record=1)
        found.append(policy.rule.products.tolist())
    square = ROOT**2
    last = [(ROOT + 2) * square, 2 * square, square, square, square, 2 * (ROOT + 3) * ROOT]
    assert found == [last, last]


def test_whole_numbers_are_the_same_in_a_replay() -> None:
    """A log is replayed with numbers of the same kind."""
    policy: Any = SquaringPolicy()
    setting = Setting(arms=2, max_delay=9, horizon=5, reward=False)
    play_queues(policy, setting, [np.full(5, 1), np.full(5, 2)], seed=0)
    assert policy.rule.products.tolist()[2:4] == [ROOT**2, 2 * ROOT**2]
