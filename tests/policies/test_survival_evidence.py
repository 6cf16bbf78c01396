"""The evidence behind SurvivalThompson and SurvivalUCB: counts, posterior moments, draws."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarry
from tarry.policies.bins import bin_of
from tarry.policies.survival.evidence import SurvivalEvidence, empty_evidence
from tarry.randomness import new_random
from tests.conformance.cases import Kept
from tests.sizes import examples


def filled(delays: list[int], max_delay: int, bins: int, mass: float = 0.5) -> SurvivalEvidence:
    """The evidence of one arm whose plays have all become complete."""
    evidence = empty_evidence(1, max_delay, bins, mass, 0.3)
    for delay in delays:
        for edge in range(len(evidence.edges)):
            if delay >= evidence.edges[edge]:
                evidence.book_pass(0, edge)
        evidence.book_event(0, delay)
    return evidence


def moments(evidence: SurvivalEvidence) -> tuple[float, float]:
    """Posterior mean and variance, with D beyond what was reached."""
    mean, square = evidence.moments_with_tail(0, 1.0)
    return mean, square - mean * mean


@given(max_delay=st.integers(1, 10**6), bins=st.integers(2, 60), share=st.floats(0, 1))
def test_bins_cover_all_delays_in_order(max_delay: int, bins: int, share: float) -> None:
    """Edges rise from 1 to D, and a delay lies in the bin whose edges enclose it."""
    evidence = empty_evidence(1, max_delay, bins, 1.0, 0.5)
    edges = np.asarray(evidence.edges)
    assert edges[0] == 1
    assert edges[-1] == max_delay
    assert (np.diff(edges) > 0).all()
    delay = int(share * (max_delay - 1))
    assert bin_of(evidence.edges, delay) == np.searchsorted(edges, delay, side="right")


@settings(max_examples=examples(40), deadline=None)
@given(seed=st.integers(0, 10**6), most=st.integers(1, 40), bins=st.integers(2, 9))
def test_counts_equal_those_of_a_list_of_plays(seed: int, most: int, bins: int) -> None:
    """Events, passes and sums kept step by step are those counted from the whole list of plays."""
    rng = np.random.default_rng(seed)
    horizon = int(rng.integers(1, 90))
    table = rng.integers(0, most + 1, (horizon, 3))
    kept: Any = Kept(tarry.SurvivalUCB(bins=bins))
    problem = tarry.problems.replay(table, max_delay=most)
    run = tarry.play(kept, problem, payoff="cost", horizon=horizon, mode="interpreted")
    evidence = kept.rule.evidence
    ages = horizon + 1 - run.steps  # at the next step to be played
    low = 0
    for b, edge in enumerate(evidence.edges):
        for arm in range(3):
            mine = run.arms == arm
            place = arm * len(evidence.edges) + b
            passed = mine & (ages >= edge) & (run.delays >= edge)
            here = mine & (run.delays >= low) & (run.delays < edge) & (run.delays < ages)
            assert evidence.passes[place] == passed.sum()
            assert evidence.events[place] == here.sum()
            assert evidence.event_sum[place] == pytest.approx(run.delays[here].sum() / most)
        low = edge


@settings(deadline=None)
@given(data=st.data(), most=st.integers(1, 3000), bins=st.integers(2, 30))
def test_complete_plays_give_the_dirichlet_posterior(
    data: st.DataObject, most: int, bins: int
) -> None:
    """Without censoring the mean is that of a Dirichlet process, for any number of bins."""
    delays = data.draw(st.lists(st.integers(0, most), min_size=1, max_size=30))
    mass = data.draw(st.one_of(st.just(0.0), st.floats(0.1, 5)))
    delays.append(most)  # so that every bin was reached
    evidence = filled(delays, most, bins, mass)
    mean, variance = moments(evidence)
    payoffs = np.array(delays) / most
    weight = mass + len(delays)
    prior_mean = sum(np.asarray(evidence.prior_sum)) + 0.3 * mass
    first = (prior_mean + payoffs.sum()) / weight
    prior_square = sum(np.asarray(evidence.prior_squares)) + 0.3 * mass
    second = (prior_square + (payoffs**2).sum()) / weight
    assert mean == pytest.approx(first)
    assert variance == pytest.approx((second - first**2) / (weight + 1), rel=1e-6, abs=1e-12)


def test_moments_are_those_of_drawn_curves() -> None:
    """With plays still out, mean and variance agree with curves drawn hazard by hazard."""
    rng = np.random.default_rng(5)
    evidence = filled([0, 0, 3, 8, 20, 20, 90], 100, 8)
    for edge in (0, 1, 2, 3, 3):
        evidence.book_pass(0, edge)
    mean, square = evidence.moments_with_tail(0, 1.0)
    count = 200_000
    payoff = np.ones(count)
    for b in range(len(evidence.edges) - 1, -1, -1):
        ended = evidence.prior[b] + evidence.events[b]
        hazard = rng.beta(ended, evidence.prior_beyond[b] + evidence.passes[b], count)
        first = (evidence.prior_sum[b] + evidence.event_sum[b]) / ended
        second = (evidence.prior_squares[b] + evidence.event_squares[b]) / ended
        spread = np.sqrt(max(second - first**2, 0.0) / (ended + 1))
        inside = first + spread * rng.choice([-1.0, 1.0], count)  # any law with these moments
        payoff = hazard * inside + (1 - hazard) * payoff
    assert mean == pytest.approx(payoff.mean(), abs=5 * payoff.std() / np.sqrt(count))
    spread = (payoff**2).std() / np.sqrt(count)
    assert square == pytest.approx((payoff**2).mean(), abs=5 * spread)


OUT = 4  # plays that were still out at edge 2 and are not back


@pytest.mark.parametrize("delays", [[0], [40, 40], [0, 3, 8, 100], [0, 3, 8, 60] * 5, [2, 4, 2]])
@pytest.mark.parametrize("out", [0, OUT])
def test_draws_have_the_posterior_mean(delays: list[int], out: int) -> None:
    """Draws lie in 0..1, with the posterior mean and mean square whatever was reached."""
    rng = new_random(1)
    evidence = filled(delays, 100, 8, mass=0.0)
    for edge in (0, 1, 2):
        for _ in range(out):
            evidence.book_pass(0, edge)
    draws = np.array([evidence.draw_mean(0, 0.0, rng) for _ in range(20_000)])
    mean, square = evidence.moments_with_tail(0, 1.0)
    assert draws.min() >= 0
    assert draws.max() <= 1
    error = draws.std() / np.sqrt(len(draws))
    assert draws.mean() == pytest.approx(mean, abs=5 * error + 1e-12)
    error = (draws**2).std() / np.sqrt(len(draws))
    # Inside the last bin reached the answers count by their mean, without their spread.
    assert (draws**2).mean() == pytest.approx(square, abs=5 * error + 2e-3 * square)


def test_all_plays_out_have_exactly_the_mean_d() -> None:
    """No rounding: with nothing back every draw is 1, so that ties are ties."""
    evidence = empty_evidence(1, 10**6, 24)
    rng = new_random(0)
    for plays in range(1, 60):
        for edge in range(plays % 20 + 1):
            evidence.book_pass(0, edge)
        assert evidence.draw_mean(0, 0.0, rng) == 1.0


@settings(deadline=None)
@given(
    delays=st.lists(st.integers(0, 100), min_size=1, max_size=6),
    lasted=st.integers(0, 100),
    told=st.integers(0, 8),
)
def test_withdrawn_passes_leave_no_trace(delays: list[int], lasted: int, told: int) -> None:
    """Passes told too early and withdrawn leave the evidence as if they had not been told."""
    late, straight = (empty_evidence(1, 100, 8) for _ in range(2))
    edges = np.asarray(late.edges)
    for edge in range(min(told, len(edges))):
        late.book_pass(0, edge)
    for edge in range(len(edges)):
        if edges[edge] <= lasted and edge >= told:
            late.book_pass(0, edge)
        elif edges[edge] > lasted and edge < told:
            late.unbook_pass(0, edge)
    late.book_event(0, lasted)
    for evidence, whole in ((late, delays), (straight, [lasted, *delays])):
        for delay in whole:
            for passed in np.flatnonzero(edges <= delay):
                evidence.book_pass(0, int(passed))
            evidence.book_event(0, delay)
    assert late.reached[0] == straight.reached[0]
    for ours, theirs in zip(late[2:6], straight[2:6], strict=True):
        assert np.allclose(np.asarray(ours), np.asarray(theirs))
    assert late.draw_mean(0, 0.0, new_random(3)) == pytest.approx(
        straight.draw_mean(0, 0.0, new_random(3))
    )


def test_a_withdrawn_only_play_is_forgotten() -> None:
    """The only play came back before its first edge was told: nothing is known but the answer."""
    evidence = empty_evidence(1, 50, 8)
    evidence.book_pass(0, 0)
    evidence.unbook_pass(0, 0)
    assert evidence.known(0) == 0
    assert evidence.reached[0] == 0
    evidence.book_event(0, 0)
    assert evidence.draw_mean(0, 0.0, new_random(0)) == 0.0


def test_pending_plays_move_the_estimate_before_anything_returns() -> None:
    """Two arms without a single answer: the one whose plays are older is believed to be longer."""
    evidence = empty_evidence(2, 1000, 12, 0.5, 0.5)
    for edge in range(9):
        for _ in range(10):
            evidence.book_pass(1, edge)
            if edge < 2:
                evidence.book_pass(0, edge)
    short, long = (
        evidence.moments_with_tail(arm, float(evidence.floor[evidence.reached[arm]]))[0]
        for arm in (0, 1)
    )
    assert long > short > 0
