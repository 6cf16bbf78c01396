"""Routers of others do what their sources say."""

import math
from random import Random
from typing import Any

import pytest

from tarry.scenarios import (
    EpsilonGreedy,
    LeastRequest,
    LocalityAware,
    LowestMean,
    PeakEWMA,
    RoundRobin,
    RouterSetting,
)
from tarry.scenarios.routers.guards import FailureAccrual, OutlierEjection
from tarry.scenarios.routers.locality_aware import LEAST, SCALE


def setting(backends: int = 3, seed: int = 0) -> RouterSetting:
    """What a router is told."""
    return RouterSetting(backends, 10.0, Random(seed), lambda _: [0.0] * backends)


def test_peak_ewma_jumps_up_and_fades_down() -> None:
    """A slower round trip is believed at once, a quicker one by its share of the time passed."""
    router = PeakEWMA(decay=10.0).start(setting())
    router.observe(0, 0.2, 1.0)
    assert router.cost[0] == 0.2
    router.observe(0, 0.1, 3.0)
    w = math.exp(-0.2)
    assert router.cost[0] == pytest.approx(0.2 * w + 0.1 * (1 - w))
    cost = router.cost[0]
    router.out[0] = 2
    assert router.load(0, 8.0) == pytest.approx(cost * math.exp(-0.5) * 3)
    assert router.load(0, 8.0) == pytest.approx(cost * math.exp(-0.5) * 3)  # a look moves the stamp


def test_peak_ewma_avoids_the_unknown_that_is_busy() -> None:
    """A backend never heard of is tried once, and then left alone until it answers."""
    router = PeakEWMA(pick_two=False).start(setting(2))
    router.observe(0, 0.05, 0.0)
    assert router.choose(0, 0.1) == 1
    assert [router.choose(n, 0.1) for n in range(1, 40)] == [0] * 39


def test_peak_ewma_of_two_sees_two_of_three() -> None:
    """The worst of three is never chosen while all are idle and known; the best in two of three."""
    router = PeakEWMA().start(setting())
    counts = [0, 0, 0]
    for request in range(3000):
        for k, rtt in enumerate((0.1, 0.2, 0.3)):
            router.cost[k], router.stamp[k] = rtt, 1.0
        chosen = router.choose(request, 1.0)
        router.out[chosen] -= 1
        counts[chosen] += 1
    assert counts[2] == 0
    assert counts[0] == pytest.approx(2000, abs=5 * math.sqrt(3000 * 2 / 9))


def test_failure_accrual_backs_off_and_probes() -> None:
    """Five failures in a row, 5 s, one probe; further deaths last longer, a success ends it."""
    guard = FailureAccrual(2, Random(1))
    for _ in range(4):
        guard.bad(0, 1.0)
    guard.good(0)
    for _ in range(4):
        guard.bad(0, 1.0)
    assert list(guard.available(1.0)) == [0, 1]
    guard.bad(0, 1.0)
    assert list(guard.available(5.9)) == [1]
    assert list(guard.available(6.0)) == [0, 1]
    guard.sent(0)
    assert list(guard.available(6.0)) == [1]  # one probe at a time
    guard.bad(0, 7.0)
    assert 7.0 + 5.0 <= guard.until[0] <= 7.0 + 10.0
    guard.available(20.0)
    guard.sent(0)
    guard.good(0)
    assert list(guard.available(20.0)) == [0, 1]
    assert guard.backoff(0) == 5.0
    assert all(20.0 <= guard.backoff(3) <= 40.0 for _ in range(100))
    assert guard.backoff(20) == 300.0


def test_failure_accrual_never_leaves_nobody() -> None:
    """If all are dead, all may be chosen."""
    guard = FailureAccrual(2, Random(1))
    for k in (0, 1):
        for _ in range(5):
            guard.bad(k, 1.0)
    assert list(guard.available(2.0)) == [0, 1]


def test_least_request_takes_the_one_with_fewer_out() -> None:
    """Of two different ones; the busiest of three is chosen only with replacement."""
    for distinct, share in ((True, 0.0), (False, 1 / 9)):
        router = LeastRequest(distinct=distinct).start(setting())
        chosen = []
        for request in range(9000):
            router.out = [9, 5, 1]
            chosen.append(router.choose(request, 0.0))
        error = math.sqrt(9000 * share * (1 - share))
        assert chosen.count(0) == pytest.approx(9000 * share, abs=5 * error)
        assert chosen.count(2) > chosen.count(1)


def test_outlier_ejection_follows_envoy() -> None:
    """Out after five in a row, at a sweep in again after 30 s; the next time for 60 s; one only."""
    guard = OutlierEjection(3)
    for k in (1, 2):
        for _ in range(5):
            guard.bad(k, 12.0)
    assert list(guard.available(12.0)) == [0, 2]  # of three one may be out
    assert list(guard.available(49.9)) == [0, 2]  # 30 s are over at 42, the next sweep is at 50
    assert list(guard.available(50.0)) == [0, 1, 2]
    for _ in range(5):
        guard.bad(1, 51.0)
    assert list(guard.available(111.0)) == [0, 2]
    assert list(guard.available(120.0)) == [0, 1, 2]
    guard.available(200.0)  # the factor falls by one in every interval
    for _ in range(5):
        guard.bad(1, 201.0)
    assert list(guard.available(240.0)) == [0, 1, 2]


def test_outlier_ejection_panics_below_half() -> None:
    """With less than half of the backends in, all of them are used."""
    guard = OutlierEjection(3, most=1.0)
    for k in (0, 1):
        for _ in range(5):
            guard.bad(k, 1.0)
    assert list(guard.available(2.0)) == [0, 1, 2]


def test_round_robin_goes_round() -> None:
    """In turn; those ejected are left out."""
    router = RoundRobin(ejection=True).start(setting())
    turns = [router.choose(n, 0.0) for n in range(6)]
    assert turns[:3] == turns[3:]
    assert sorted(turns[:3]) == [0, 1, 2]
    for _ in range(5):
        router.failed(0, 1, 0.01, 0.0)
    assert {router.choose(n, 1.0) for n in range(6)} == {0, 2}


def test_locality_aware_weighs_throughput_over_latency() -> None:
    """128 answers of 50 ms at 20 per second weigh SCALE * 20 / 50000."""
    router = LocalityAware().start(setting(2))
    node = router.nodes[0]
    for n in range(200):
        node.begin_sum += 0.05 * n
        node.begin_count += 1
        node.returned(0.05 * n, 0.05 * n + 0.05, None)
    assert node.latency == pytest.approx(0.05)
    assert node.weight == pytest.approx(SCALE * 20 / 50_000)


def test_locality_aware_punishes_what_is_out_too_long() -> None:
    """Requests out for longer than 1.5 latencies make the weight smaller, by their mean age."""
    node = LocalityAware().start(setting(2)).nodes[0]
    node.latency, node.base = 0.1, 8000.0
    node.begin_sum, node.begin_count = 2 * 1.0, 2
    node.renew(1.1)
    assert node.weight == 8000.0
    node.renew(1.6)
    assert node.weight == pytest.approx(8000.0 * 0.15 / 0.6)
    node.renew(1000.0)
    assert node.weight == LEAST


def test_locality_aware_counts_a_failure_as_the_timeout() -> None:
    """It lengthens the latest answer instead of being one."""
    node = LocalityAware().start(setting(2)).nodes[0]
    for started, now in ((0.0, 0.1), (1.0, 1.1), (2.0, 2.1)):
        node.returned(started, now, None)
    node.returned(2.2, 2.21, 10.0)
    assert len(node.answers) == 3
    assert node.latency == pytest.approx((0.1 + 0.1 + 10.0) / 2)
    assert node.base == pytest.approx(SCALE * 1.0 / (node.latency * 1e6))  # 2 in 2.11 s: below 1


def test_locality_aware_sends_by_weight() -> None:
    """A backend with three times the weight gets three of four requests."""
    router = LocalityAware().start(setting(2))
    router.nodes[0].base = router.nodes[0].weight = 3e6
    router.nodes[1].base = router.nodes[1].weight = 1e6
    chosen = [router.choose(n, 0.0) for n in range(8000)]
    assert chosen.count(0) == pytest.approx(6000, abs=5 * math.sqrt(8000 * 3 / 16))


def answers(router: Any, backend: int, *latencies: float) -> None:
    """Let these answers come."""
    for latency in latencies:
        router.answered(0, backend, latency, 1.0)


def test_lowest_mean_is_that_of_the_last_ten() -> None:
    """An eleventh answer pushes out the first; a time-out counts as 1000 s."""
    router = LowestMean().start(setting(2))
    answers(router, 0, 9.0, *[0.2] * 9)
    answers(router, 1, 0.5)
    assert router.choose(0, 1.0) == 1
    answers(router, 0, 0.2)
    assert router.mean[0] == pytest.approx(0.2)
    assert router.choose(0, 1.0) == 0
    router.failed(0, 0, 10.0, 11.0)
    assert router.mean[0] == pytest.approx((9 * 0.2 + 1000.0) / 10)


def test_lowest_mean_tries_everybody_first() -> None:
    """A backend without answers has the mean 0."""
    router = LowestMean().start(setting(3))
    answers(router, 1, 0.5)
    assert {router.choose(n, 1.0) for n in range(50)} == {0, 2}


def test_lowest_mean_cools_down_after_failures() -> None:
    """More than three failures within a minute: nothing for 30 s; the latencies stay."""
    router = LowestMean().start(setting(2))
    answers(router, 0, 0.1)
    answers(router, 1, 0.2)
    for _ in range(3):
        router.failed(0, 0, 0.01, 61.0)
    assert router.choose(0, 61.0) == 0
    router.failed(0, 0, 0.01, 61.0)
    assert router.choose(0, 90.9) == 1
    assert router.choose(0, 91.0) == 0
    for _ in range(4):
        router.failed(0, 0, 0.01, 100.0)
        router.failed(0, 1, 0.01, 100.0)
    assert router.choose(0, 101.0) == 0  # all cool: the best of them


def test_epsilon_greedy_explores_by_its_share() -> None:
    """The best but for a share of epsilon, evenly over all; failures count as the timeout."""
    router = EpsilonGreedy(epsilon=0.3, window=2).start(setting(3))
    for k, latency in enumerate((0.1, 0.2, 0.3)):
        answers(router, k, latency)
    chosen = [router.choose(n, 1.0) for n in range(9000)]
    assert chosen.count(2) == pytest.approx(900, abs=5 * math.sqrt(9000 * 0.1 * 0.9))
    router.failed(0, 0, 0.01, 1.0)
    assert router.mean[0] == pytest.approx((0.1 + 10.0) / 2)
    answers(router, 0, 0.1, 0.1)
    assert router.mean[0] == pytest.approx(0.1)


def test_epsilon_greedy_breaks_ties_at_random() -> None:
    """Backends of one mean are chosen equally often, whatever their numbers."""
    router = EpsilonGreedy(epsilon=0.0, window=2).start(setting(3))
    for k, latency in enumerate((0.2, 0.1, 0.1)):
        answers(router, k, latency)
    chosen = [router.choose(n, 1.0) for n in range(4000)]
    assert chosen.count(0) == 0
    assert chosen.count(1) == pytest.approx(2000, abs=5 * math.sqrt(4000 * 0.25))
