"""The rival that fits all plays at once, and sampling that is directed by information."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from benchmarks.contexts import at_once
from benchmarks.contexts.directed import COINS, directed
from benchmarks.contexts.rival_hazards import Hazards
from benchmarks.contexts.worlds import ARMS, FIRST_SEED
from tests.benchmarks.test_oracle import played, world_of

from tarry.problems import log_linear


def test_mean_payoffs_are_found() -> None:
    """From plays of random arms, most of them long back."""
    problem = log_linear(ARMS, 3, 300, FIRST_SEED + 1, contexts=30)
    rival = Hazards(problem, 200)
    blank, _ = rival.payoffs(np.arange(30), np.random.default_rng(0))
    assert (blank == 1.0).all()  # nothing is known of any age
    rival.learn(played(problem, FIRST_SEED + 1, 6000))
    means, draws = rival.payoffs(np.arange(30), np.random.default_rng(0))
    off = means - problem.context_means
    assert np.abs(off).mean() < 0.02  # a line in log age is not quite a Weibull hazard
    assert draws.std(axis=0).max() < 0.05


def test_fit_is_the_most_likely_one() -> None:
    """No step in any direction makes plays and laws in advance likelier."""
    problem = log_linear(ARMS, 2, 50, FIRST_SEED, contexts=10)
    rival = Hazards(problem, 1)
    rng = np.random.default_rng(1)
    rows = rival.rows(rng.normal(size=(400, 2)), rng.integers(0, len(rival.edges), 400))
    answered = (rng.random(400) < 0.3).astype(float)
    rival.fit(0, rows, answered)
    rival.fit(0, rows, answered)

    def likely(numbers: np.ndarray) -> float:
        tilt = rows @ numbers
        advance = 0.5 * rival.weight @ (numbers - rival.centre) ** 2
        return float(answered @ tilt - np.logaddexp(0.0, tilt).sum() - advance)

    best = likely(rival.found[0])
    for step in rng.normal(size=(50, len(rival.centre))) * 0.05:
        assert likely(rival.found[0] + step) < best


def test_directed_throws_the_best_coin() -> None:
    """As often as the coin with the least ratio says, which is looked for one by one here."""
    rng = np.random.default_rng(3)
    draws = rng.normal([0.5, 0.4, 0.3], [0.02, 0.15, 0.1], (64, 3))
    means, best = draws.mean(axis=0), draws.argmax(axis=1)
    told = np.zeros(3)
    for arm in set(best.tolist()):
        told += (best == arm).mean() * (draws[best == arm].mean(axis=0) - means) ** 2
    regret = draws.max(axis=1).mean() - means
    _, coin, one, other = min(
        (((1 - q) * regret[i] + q * regret[j]) ** 2 / ((1 - q) * told[i] + q * told[j]), q, i, j)
        for q in COINS
        for i in range(3)
        for j in range(3)
    )
    many = np.repeat(draws[:, None], 20_000, axis=1)
    shares = directed(many, rng).mean(axis=0)
    expected = (1 - coin) * np.eye(3)[one] + coin * np.eye(3)[other]
    assert shares == pytest.approx(expected, abs=5 * 0.5 / 20_000**0.5)
    assert 0 < coin < 1


def test_directed_plays_what_is_known_to_be_best() -> None:
    """There is nothing to find out."""
    draws = np.tile([0.2, 0.7, 0.1], (16, 5, 1))
    assert (directed(draws, np.random.default_rng(0)).argmax(axis=1) == 1).all()


def test_table(tmp_path: Path) -> None:
    """In a short form: everybody plays, what was played is kept, and the ratios are there."""
    small = partial(log_linear, ARMS, 2, 50, contexts=20)
    world = world_of("weibull reward")._replace(horizon=300, problem=small)
    text = at_once.table(tmp_path, [world], range(2))
    assert text == at_once.table(tmp_path, [world], range(2))
    row = text.splitlines()[-1]
    assert row.count("(") == 3
    assert row.count("±") == 2
