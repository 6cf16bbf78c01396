"""What is told of a run."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tarry.errors import InputError
from tarry.scenarios import (
    Change,
    Constant,
    Fails,
    Hangs,
    Oracle,
    RoundRobin,
    Scenario,
    simulate,
    slower,
)
from tarry.scenarios.catalogue import catalogue
from tarry.scenarios.measures import measure
from tarry.scenarios.traffic import Traffic

LAWS = (Constant(0.05), Constant(0.08))
SCENARIO = Scenario(
    "hang",
    LAWS,
    [Change(20.0, 0, Hangs()), Change(40.0, 0, LAWS[0])],
    seconds=60.0,
    arrivals="constant",
)


def made(backends: Any) -> Traffic:
    """The oracle's run, as if requests had gone elsewhere."""
    return replace(simulate(SCENARIO, Oracle(), 0), backends=backends)


def test_into_left_and_back_are_read_off_the_shares() -> None:
    """Leaving after 3 s and returning after 5 s is what is told, to the second looked at."""
    times = simulate(SCENARIO, Oracle(), 0).times
    away = (times > 23.0) & (times < 45.0)
    told = measure(made(away.astype(int)))
    assert told.into == 301
    assert told.left == pytest.approx(3.0, abs=0.06)
    assert told.back == pytest.approx(5.0, abs=0.51)
    assert told.elsewhere == pytest.approx((301 + 500) / 6000, abs=0.001)


def test_never_is_infinite() -> None:
    """Who stays in a hang never left it; who never returns is never back."""
    told = measure(made(np.zeros(6000, int)))
    assert told.left == np.inf
    assert told.back < 0.02
    away = (simulate(SCENARIO, Oracle(), 0).times > 20.0).astype(int)
    assert measure(made(away)).back == np.inf


def test_round_robin_is_measured_by_its_own_share() -> None:
    """It never leaves, and it is back at once since its share is as before."""
    told = measure(simulate(SCENARIO, RoundRobin(), 0))
    assert told.left == np.inf
    assert told.back < 1.0
    assert told.into == 1000


def test_calm_has_nothing_to_tell_of_breaking() -> None:
    """Not a number where nothing breaks."""
    told = measure(simulate(replace(SCENARIO, changes=()), RoundRobin(), 0))
    assert np.isnan([told.into, told.left, told.back]).all()
    assert told.mean == pytest.approx(0.065)


def test_shares_add_up() -> None:
    """In every second the shares of all backends are 1 together."""
    middles, shares = simulate(SCENARIO, RoundRobin(), 0).shares(1.0)
    assert len(middles) == len(shares) == 60
    assert shares.sum(axis=1) == pytest.approx(1.0)


def test_the_catalogue_has_each_name_once() -> None:
    """And whatever breaks there is found to be broken."""
    scenarios = catalogue()
    names = [scenario.name for scenario in scenarios]
    assert len(set(names)) == len(names) >= 30
    for scenario in scenarios:
        broken = simulate(replace(scenario, rate=0.1), RoundRobin(), 0).broken
        assert bool(broken) == any(
            word in scenario.name and "all" not in scenario.name
            for word in ("hang", "slow", "fails fast", "flapping", "500s", "503s", "outage", "hole")
        )


def test_a_run_without_requests_has_no_numbers() -> None:
    """A second at one request per quarter of an hour: nothing is made up, nothing warns."""
    empty = simulate(Scenario("empty", LAWS, rate=0.001, seconds=1.0), Oracle(), 1)
    assert len(empty.times) == 0
    assert np.isnan(measure(empty)).all()
    assert "0 requests" in repr(empty)


def test_what_would_break_after_the_end_does_not_count() -> None:
    """A run cannot have left a backend that did not break while it lasted."""
    late = replace(SCENARIO, changes=[Change(61.0, 0, Hangs())])
    told = measure(simulate(late, Oracle(), 0))
    assert np.isnan([told.into, told.left]).all()


NONSENSE: list[tuple[Any, str]] = [
    (lambda: Fails(3), "The time until a failure is 3"),  # type: ignore[arg-type]
    (lambda: Fails(Hangs()), "The time until a failure is Hangs()"),  # type: ignore[arg-type]
    (lambda: slower(Hangs(), 2), "The law that gets slower is Hangs()"),  # type: ignore[arg-type]
    (lambda: replace(SCENARIO, bursts=3), "bursts is 3"),  # type: ignore[arg-type]
    (lambda: Scenario("one", LAWS, Change(1.0, 0, Hangs())), "changes is Change("),  # type: ignore[arg-type]
    (lambda: Scenario("one", LAWS[0]), "backends is Constant("),  # type: ignore[arg-type]
    (lambda: simulate(SCENARIO, Oracle), "The chooser is <class"),
    (lambda: simulate(SCENARIO, Oracle()).shares(0), "The width is 0"),
    (lambda: simulate(SCENARIO, Oracle()).shares(1e-9), "The width is 1e-09 s"),
]


@pytest.mark.parametrize(("make", "words"), NONSENSE)
def test_nonsense_is_refused_where_it_is_given(make: Any, words: str) -> None:
    """In one sentence, before anything is simulated."""
    with pytest.raises(InputError) as refused:
        make()
    assert words in str(refused.value)
