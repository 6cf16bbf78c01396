"""The rival that is told the laws but for their parameters, and the section about it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.contexts import oracle
from benchmarks.contexts.oracle import FORMS, OURS, play_told, told
from benchmarks.contexts.rival_linear import POINTS, Cloud, Linear
from benchmarks.contexts.rival_scales import Plays, Scales, of_length_one
from benchmarks.contexts.rival_segments import Segments
from benchmarks.contexts.waiting_page import HEADING, ratios, verdict, waiting_part, with_section
from benchmarks.contexts.worlds import ARMS, FIRST_SEED, World, five_segments, simulated

from tarry.problems import Contextual, linear, log_linear
from tarry.problems.regressions import Points, grid

DOCS = Path(__file__).parents[2] / "docs"


def world_of(key: str) -> World:
    """One of the worlds of the measurement."""
    return next(world for world in simulated() if world.key == key)


def played(problem: Contextual, seed: int, steps: int) -> Plays:
    """So many plays of random arms, as they are known one step after the last."""
    every = np.arange(1, steps + 1)
    arms = np.random.default_rng(seed).integers(0, ARMS, steps)
    delays = problem.delays(seed, every[:, None], np.arange(ARMS)[None])[every - 1, arms]
    age = np.minimum(steps + 1 - every, problem.max_delay)
    back = delays < age
    kinds = problem.contexts(seed, every)
    return Plays(kinds, arms, np.where(back, delays, age), back.astype(float))


@pytest.mark.parametrize("shape", ["weibull", "log-normal"])
def test_levels_and_effects_are_found(shape: Any) -> None:
    """What is told gives the mean payoffs of the world; fits are within four deviations of it."""
    problem = log_linear(ARMS, 3, 300, FIRST_SEED + 1, shape=shape, contexts=30)
    rival = Scales(world_of(f"{shape} cost"), problem, 1)
    draw = Points.checked("", 0, ARMS, 3, 300, FIRST_SEED + 1, 30)
    beta = draw.normal(1, ARMS, 3)
    beta /= np.linalg.norm(beta, axis=1, keepdims=True)
    truth = np.column_stack([np.log(30) + 0.5 * draw.normal(2, ARMS), beta])
    for arm, means in enumerate(problem.context_means.T):
        assert rival.family.means(rival.rows @ truth[arm])[arm] == pytest.approx(means, abs=1e-9)
    rival.learn(played(problem, FIRST_SEED + 1, 6000))
    for fit, true in zip(rival.fits, truth, strict=True):
        assert (np.abs(fit.mean - true) < 4 * np.sqrt(np.diag(fit.spread))).all()
        assert np.sqrt(fit.spread.max()) < 0.1
        assert np.linalg.norm(fit.mean[1:]) == pytest.approx(1.0, abs=0.01)
    less = Scales(world_of(f"{shape} cost"), problem, 1, laws=False)
    less.learn(played(problem, FIRST_SEED + 1, 6000))
    for fit, true in zip(less.fits, truth, strict=True):
        assert (np.abs(fit.mean - true) < 4 * np.sqrt(np.diag(fit.spread))).all()
        assert np.linalg.norm(fit.mean[1:]) != pytest.approx(1.0, abs=1e-6)


def test_length_of_effects() -> None:
    """Nothing is learnt from it where the direction is open; else the length becomes 1."""
    mean, spread = of_length_one(np.zeros(3), np.diag([0.25, 0.5, 0.5]))
    assert mean.tolist() == [0.0, 0.0, 0.0]
    assert spread.tolist() == np.diag([0.25, 0.5, 0.5]).tolist()
    mean, spread = of_length_one(np.array([5.0, 0.0, 1.02]), np.diag([1.0, 1e-4, 1e-4]))
    assert mean[2] == pytest.approx(1.0, abs=1e-3)
    assert spread[2, 2] < 1e-6
    assert spread[1, 1] == pytest.approx(1e-4)


def test_segments_by_brute_force() -> None:
    """Expected payoffs are those of a sum over all |x|, signs and levels, play by play."""
    problem, number = five_segments(3), 3
    rival = Segments(problem, number)
    plays = played(problem, 7, 60)
    rival.learn(plays)
    rng = np.random.default_rng(1)
    means, draws = rival.payoffs(np.repeat([0, 1], 4000), rng)
    for kind, found in ((0, means[0]), (1, means[-1])):
        shapes = Points.checked("", 0, ARMS, 1, 2000, FIRST_SEED + 10 * number + kind, 1)
        x = np.linspace(0, 4, 41)
        levels, values = np.linspace(-2.5, 2.5, 51), grid(2000)
        scales = np.exp(np.log(200) + levels + np.array([-1, 1])[:, None, None] * x[:, None])
        prior = np.exp(-2 * levels**2)  # (signs, |x|, levels) with the scales
        shares, paid = np.exp(-(x**2) / 2) * np.where(x == 0, 0.5, 1.0), []
        for arm, k in enumerate(0.7 + 0.8 * shapes.uniform(3, ARMS, 1).ravel()):
            edges = np.array([0.0, *(values[1:] + values[:-1]) / 2])
            lasts = np.exp(-((edges[:, None, None, None] / scales) ** k))
            likely = np.ones_like(scales)
            for i in np.flatnonzero((plays.kinds == kind) & (plays.arms == arm)):
                place = np.searchsorted(values, plays.times[i])
                likely *= lasts[place] - (lasts[place + 1] if plays.back[i] else 0.0)
            mean = np.einsum("v,v...->...", np.diff(values) / 2000, lasts[1:])
            given = (likely * prior).sum(axis=(0, 2))
            paid.append((likely * prior * mean).sum(axis=(0, 2)) / given)
            shares = shares * given
        assert found == pytest.approx(np.array(paid) @ shares / shares.sum(), abs=2e-4)
    error = draws[:4000].std(axis=0) / np.sqrt(4000)
    assert (np.abs(draws[:4000].mean(axis=0) - means[0]) < 4 * error).all()


def test_cloud_of_points() -> None:
    """With one feature the law of a weight is a Beta law; with five, means are found."""
    rng = np.random.default_rng(2)
    cloud = Cloud(np.ones((1, 1)), rng)
    for _ in range(40):
        cloud.learn(np.zeros(5, int), np.array([1, 1, 1, 1, 0]))
    mean, deviation = 161 / 202, np.sqrt(161 * 41 / 202**2 / 203)
    assert cloud.shares @ cloud.points[:, 0] == pytest.approx(mean, abs=6 * deviation / POINTS**0.5)
    wide = np.sqrt(cloud.shares @ (cloud.points[:, 0] - mean) ** 2)
    assert wide == pytest.approx(deviation, rel=6 / (2 * POINTS) ** 0.5)
    problem = linear(ARMS, 5, 2000, FIRST_SEED, contexts=20)
    rival, plays = Linear(problem, rng), played(problem, FIRST_SEED, 3000)
    for end in range(100, 3001, 100):
        rival.learn(Plays(*(part[:end] for part in plays)))
    many = [rival.payoffs(np.arange(20), rng)[1] for _ in range(30)]
    apart = rival.payoffs(np.arange(20), rng)[0] - problem.context_means
    assert (np.abs(apart) < 5 * np.std(many, axis=0)).all()
    assert np.abs(apart).max() < 0.15


def test_oracle_waits_like_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shown a delay d of step s from step s + d + 1 on, before that only the age."""
    problem = log_linear(ARMS, 2, 40, FIRST_SEED + 2, contexts=10)
    world = world_of("weibull reward")._replace(horizon=150, problem=lambda number: problem)

    class Spy(Scales):
        """Looks at what it is shown."""

        def learn(self, plays: Plays) -> None:
            """Compare it with the delays."""
            steps = np.arange(1, len(plays.arms) + 1)
            delays = problem.delays(FIRST_SEED + 2, steps, plays.arms)
            age = np.minimum(len(steps) + 1 - steps, 40)
            assert (plays.back == (delays < age)).all()
            assert (plays.times == np.minimum(delays, age)).all()
            super().learn(plays)

    monkeypatch.setattr(oracle, "Scales", Spy)
    assert 0 < play_told(world, 2, FORMS["share 0.25"])[-1] < 0.7


def test_forms_of_the_oracle() -> None:
    """Expected payoffs, draws, and what lies between; more is better."""
    m, d, rng = np.full((9000, 1), 0.5), np.full((9000, 1), 0.3), np.random.default_rng(1)
    found = {form: rule(m, d, rng).mean() for form, rule in FORMS.items()}
    assert (found["share 0"], found["optimist"]) == (0.5, 0.5)
    assert found["share 1"] == pytest.approx(0.3)
    assert found["share 0.25"] == pytest.approx(0.4)
    error = 0.2 * np.sqrt(5 / 36 / 9000)
    assert found["rare draws"] == pytest.approx(0.5 - 0.2 / 6, abs=4 * error)


def test_section_alone_is_replaced() -> None:
    """The rest of the page stands as it is, and verdicts follow from the ratios of the peers."""
    peers = (DOCS / "peers-contexts.md").read_text()
    assert len(ratios(peers)) == 12
    finals = {OURS: 0.02, **{told(form): 0.01 + 0.001 * i for i, form in enumerate(FORMS)}}
    keys = ("weibull cost", "weibull reward")
    runs = np.array([0.5, 1.0, 1.5])[:, None] * np.ones(4)
    wait = {(key, name): final * runs for key in keys for name, final in finals.items()}
    row = "| Weibull, log-linear scales, reward | 0 | {} (0.60 to 0.90) |"
    low = f"| Weibull, log-linear scales, cost | 0 | 0.40 (0.30 to 0.50) |\n{row}"
    text = waiting_part(wait, wait, low.format("0.80"))
    assert "best form (share 0) 0.50 of SurvivalRegression's. That makes 0.40 ± 0.00: at" in text
    assert "more than one half." not in text
    assert "That makes 0.60 ± 0.00: more than one half." in waiting_part(
        wait, wait, low.format("1.20")
    )
    assert verdict(0.53, 0.04) == "more than one half, but these runs leave it open"
    assert waiting_part({}, wait, peers) == ""
    old = (DOCS / "contexts-measured.md").read_text()
    new = with_section(old, text)
    before, after = old.split(f"\n{HEADING}\n")
    rest = after[after.index("\n## ") :]
    assert new == before + text + rest
    assert with_section(new, text) == new
    with pytest.raises(ValueError, match="has no section"):
        with_section("# A page\n", text)
