"""The simulator."""

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np
import pytest

import tarry
from tarry.errors import InputError, PolicyError
from tarry.live import ManualClock
from tarry.scenarios import (
    Backend,
    Bursts,
    Change,
    Constant,
    Exponential,
    Fails,
    Hangs,
    LogNormal,
    Oracle,
    PeakEWMA,
    RoundRobin,
    RouterSetting,
    Scenario,
    simulate,
)
from tarry.scenarios.timeline import Timeline

PAIR = (LogNormal(0.05), LogNormal(0.1))


class Always:
    """A router that sends everything to one backend, and keeps what it hears."""

    def __init__(self, backend: Any = 0) -> None:
        self.backend = backend
        self.heard: list[tuple[str, int, float, float]] = []

    def start(self, setting: RouterSetting) -> "Always":
        """It has nothing to begin with."""
        assert setting.backends >= 1
        return self

    def choose(self, request: int, now: float) -> Any:
        """Always the same."""
        del request, now
        return self.backend

    def answered(self, request: int, backend: int, latency: float, now: float) -> None:
        """Keep it."""
        del backend
        self.heard.append(("answered", request, latency, now))

    def failed(self, request: int, backend: int, latency: float, now: float) -> None:
        """Keep it."""
        del backend
        self.heard.append(("failed", request, latency, now))


def test_a_run_is_a_function_of_its_seed() -> None:
    """The same seed gives the same run, another seed another one."""
    scenario = Scenario("any", PAIR, seconds=20.0)
    for chooser in (PeakEWMA(), tarry.SurvivalThompson()):
        first, again, other = (simulate(scenario, chooser, seed) for seed in (1, 1, 2))
        assert np.array_equal(first.costs, again.costs)
        assert np.array_equal(first.backends, again.backends)
        assert not np.array_equal(first.times, other.times)


def test_all_choosers_meet_the_same_luck() -> None:
    """Request n takes as long at backend k, whoever sends it there."""
    scenario = Scenario("any", PAIR, seconds=20.0)
    runs = [simulate(scenario, chooser, 3) for chooser in (Always(0), RoundRobin(), Always(1))]
    assert all(np.array_equal(run.times, runs[0].times) for run in runs)
    turns = runs[1].backends
    assert set(turns.tolist()) == {0, 1}
    assert np.array_equal(runs[1].costs, np.where(turns == 0, runs[0].costs, runs[2].costs))


def test_a_policy_plays_as_an_agent_would() -> None:
    """A policy in a scenario makes the choices of a live agent with the same clock and seed."""
    outage = [Change(10.0, 0, Hangs()), Change(20.0, 0, Fails()), Change(25.0, 0, PAIR[0])]
    scenario = Scenario("outage", PAIR, outage, seconds=40.0, timeout=2.0)
    traffic = simulate(scenario, tarry.SurvivalThompson(), 5)
    seed = int(np.random.SeedSequence(5, spawn_key=(3, 0)).generate_state(1)[0])

    class ByHand(Always):
        """A real agent on a clock that is moved by hand."""

        def start(self, setting: RouterSetting) -> "ByHand":
            """An agent of the public kind."""
            self.clock = ManualClock()
            names = [str(k) for k in range(setting.backends)]
            self.agent = tarry.Agent(
                tarry.SurvivalThompson(),
                arms=names,
                payoff="cost",
                max_delay=setting.timeout,
                seed=seed,
                clock=self.clock,
            )
            self.plays: dict[int, Any] = {}
            return self

        def choose(self, request: int, now: float) -> int:
            """Ask."""
            self.clock.time = now
            self.plays[request] = self.agent.ask()
            return int(self.plays[request].arm)

        def answered(self, request: int, backend: int, latency: float, now: float) -> None:
            """Tell."""
            del backend
            self.clock.time = now
            self.agent.tell(self.plays[request], latency)

        def failed(self, request: int, backend: int, latency: float, now: float) -> None:
            """Tell of a failure; what is D old is closed without."""
            del backend
            self.clock.time = now
            if latency < 2.0:
                self.agent.fail(self.plays[request])

    by_hand = simulate(scenario, ByHand(), 5)
    assert len(np.unique(traffic.backends[traffic.times > 10.0])) == 2
    assert np.array_equal(traffic.backends, by_hand.backends)


def test_a_hang_takes_what_is_out_and_all_that_follows() -> None:
    """Requests that would come back during a hang are given up at D, and later ones are well."""
    law = Constant(0.5)
    changes = [Change(10.0, 0, Hangs()), Change(12.0, 0, law)]
    scenario = Scenario(
        "hang", [law], changes, rate=10.0, seconds=15.0, timeout=3.0, arrivals="constant"
    )
    router = Always()
    traffic = simulate(scenario, router, 0)
    lost = (traffic.times > 9.5) & (traffic.times < 12.0)
    assert traffic.costs.tolist() == np.where(lost, 3.0, 0.5).tolist()
    assert traffic.outcomes.tolist() == np.where(lost, 2, 0).tolist()
    told = {request: (what, now) for what, request, _, now in router.heard}
    assert told[100][0] == "failed"
    assert told[100][1] == pytest.approx(10.1 + 3.0)
    assert told[10][0] == "answered"
    assert told[10][1] == pytest.approx(1.1 + 0.5)


def test_a_failure_is_quick_and_costs_the_timeout() -> None:
    """The router hears of it after a few milliseconds; it counts as D."""
    scenario = Scenario("fails", [PAIR[0]], [Change(0.0, 0, Fails(Constant(0.01)))], seconds=1.0)
    router = Always()
    traffic = simulate(scenario, router, 0)
    assert set(traffic.costs.tolist()) == {10.0}
    assert {(what, latency) for what, _, latency, _ in router.heard} == {("failed", 0.01)}


def test_drift_moves_every_quantile_on_a_straight_line() -> None:
    """Half-way from 0.1 to 0.3 s a constant law takes 0.2 s."""
    changes = [Change(10.0, 0, Constant(0.3), over=20.0)]
    scenario = Scenario(
        "drift", [Constant(0.1)], changes, rate=1.0, seconds=40.0, arrivals="constant"
    )
    traffic = simulate(scenario, Always(), 0)
    expected = np.interp(traffic.times, [10.0, 30.0], [0.1, 0.3])
    assert traffic.costs == pytest.approx(expected)


def erlang_wait(load: float, servers: int) -> float:
    """The mean wait in an M/M/c queue, in mean service times: Erlang's C / (c - load)."""
    last = load**servers / factorial(servers) * servers / (servers - load)
    busy = last / (sum(load**n / factorial(n) for n in range(servers)) + last)
    return busy / (servers - load)


@pytest.mark.parametrize("servers", [1, 4])
def test_queues_are_those_of_the_textbook(servers: int) -> None:
    """Poisson arrivals and exponential service: the mean time is Erlang's, within five errors."""
    load = 0.7 * servers
    scenario = Scenario(
        "queue", [Backend(Exponential(1.0), servers)], rate=load, seconds=40_000.0, timeout=1e6
    )
    means = [simulate(scenario, Always(), seed).mean for seed in range(6)]
    expected = 1.0 + erlang_wait(load, servers)
    assert np.mean(means) == pytest.approx(expected, abs=5 * float(np.std(means, ddof=1)) / 6**0.5)


def test_a_queue_that_hangs_begins_anew() -> None:
    """What was queued is lost, and after the hang nobody waits for it."""
    law = Constant(1.0)
    changes = [Change(10.0, 0, Hangs()), Change(20.0, 0, law)]
    scenario = Scenario(
        "hang",
        [Backend(law, 1)],
        changes,
        rate=2.0,
        seconds=21.0,
        timeout=30.0,
        arrivals="constant",
    )
    traffic = simulate(scenario, Always(), 0)
    # Two come per second and one is served: n of them are done by second n.
    done = traffic.costs[traffic.times < 10.0]
    assert (done[:9] == 1.0 + 0.5 * np.arange(9)).all()
    assert (done[9:] == 30.0).all()
    assert traffic.costs[traffic.times >= 20.0].tolist() == [1.0, 1.5, 2.0]


def test_clients_do_not_share_what_they_hear() -> None:
    """Each client has a router of its own, which hears of its own requests only."""
    started: list[Always] = []

    class Many:
        """Starts a new router for each client."""

        def start(self, setting: RouterSetting) -> Always:
            """One more."""
            started.append(Always().start(setting))
            return started[-1]

    traffic = simulate(Scenario("many", PAIR, seconds=20.0, clients=4), Many(), 0)
    heard = [request for router in started for _, request, _, _ in router.heard]
    assert len(started) == 4
    assert all(len(router.heard) > 300 for router in started)
    assert len(set(heard)) == len(heard) >= len(traffic.times) - 50


def test_bursts_multiply_the_rate() -> None:
    """Every 10 s, for 1 s, ten times as many requests come."""
    scenario = Scenario(
        "bursts", PAIR, seconds=100.0, bursts=Bursts(10.0, 1.0, 10.0), arrivals="constant"
    )
    traffic = simulate(scenario, Always(), 0)
    counts = np.histogram(traffic.times, bins=np.arange(101))[0]
    bursting = (np.arange(100) % 10 == 0) & (np.arange(100) > 0)
    assert counts[bursting] == pytest.approx(1000, abs=2)
    assert counts[~bursting] == pytest.approx(100, abs=2)


def test_the_oracle_is_at_the_best_backend_of_each_moment() -> None:
    """Also where the best one hangs or laws cross while they drift."""
    changes = [
        Change(5.0, 0, Hangs()),
        Change(10.0, 0, PAIR[0]),
        Change(12.0, 1, LogNormal(0.01), over=6.0),
    ]
    traffic = simulate(Scenario("any", PAIR, changes, seconds=20.0), Oracle(), 0)
    assert np.array_equal(traffic.backends, traffic.best)
    at = {time: int(traffic.best[np.searchsorted(traffic.times, time)]) for time in (1, 7, 11, 19)}
    assert at == {1: 0, 7: 1, 11: 0, 19: 1}


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: Scenario("x", []), InputError, "backends is empty; a scenario needs at least one"),
    (lambda: Scenario("x", [3.0]), InputError, "The law of a backend is 3.0; give a law"),  # type: ignore[list-item]
    (
        lambda: Scenario("x", PAIR, [Change(1.0, 2, Hangs())]),
        InputError,
        "A change is about backend 2; the backends of 'x' are 0 to 1.",
    ),
    (
        lambda: Scenario("x", PAIR, ["hang"]),  # type: ignore[list-item]
        InputError,
        "A change is 'hang'; give tarry.scenarios.Change.",
    ),
    (lambda: Change(1.0, 0, Hangs(), over=2.0), InputError, "only laws change gradually"),
    (lambda: Bursts(1.0, 2.0, 3.0), InputError, "it must be shorter than the time between"),
    (
        lambda: Scenario("x", PAIR, arrivals="sometimes"),
        InputError,
        "arrivals is 'sometimes'; it must be 'poisson' or 'constant'.",
    ),
    (lambda: Scenario("x", PAIR, rate=1e9), InputError, "choose a shorter scenario"),
    (lambda: simulate("calm", RoundRobin()), InputError, "The scenario is 'calm'; give"),  # type: ignore[arg-type]
    (lambda: simulate(Scenario("x", PAIR), 7), InputError, "The chooser is 7; give a policy"),
    (
        lambda: simulate(Scenario("x", PAIR), Always(2)),
        PolicyError,
        "Always chose 2 among 2 backends; `choose` returns the number of a backend",
    ),
    (
        lambda: simulate(Scenario("x", PAIR), tarry.BHSE()),
        InputError,
        "BHSE",
    ),
]


@pytest.mark.parametrize(("make", "error", "message"), BAD)
def test_bad_input_is_refused_in_one_sentence(
    make: Callable[[], Any], error: type[Exception], message: str
) -> None:
    """What was wrong, the value, what is allowed."""
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_choice_of_another_whole_type_counts() -> None:
    """A router may return a number of NumPy."""
    traffic = simulate(Scenario("x", PAIR, seconds=1.0), Always(np.int64(1)), 0)
    assert set(traffic.backends.tolist()) == {1}
    assert repr(traffic).startswith("<Traffic of <")


def test_a_gradual_change_that_is_cut_short_stops_on_its_way() -> None:
    """Another change begins before it is done: it gets there as slowly as it was to."""
    scenario = Scenario(
        "cut",
        [Constant(0.05)],
        [Change(5.0, 0, Constant(0.25), over=10.0), Change(10.0, 0, Constant(0.5))],
    )
    line = Timeline(scenario, 0)
    assert line.cost_at(7.5) == pytest.approx(0.10)
    assert line.cost_at(9.999) == pytest.approx(0.15, rel=1e-3)
    assert line.cost_at(10.0) == pytest.approx(0.5)
