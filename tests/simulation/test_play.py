"""`tarry.play`: what a run contains, and that it contains it however it is asked for."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarry
from tarry.errors import InputError
from tarry.plays import empty_plays, room_of
from tarry.policies import Setting
from tarry.simulation import play as play_module
from tarry.simulation.calendar import empty_calendar
from tarry.simulation.record import evenly_spaced

PROBLEM = tarry.problems.bernoulli(arms=4, max_delay=30, seed=3)
T = 2000
play = partial(tarry.play, tarry.BDSE(), PROBLEM, payoff="cost", horizon=T, seed=5)


def test_run_has_one_row_per_step() -> None:
    """Exactly T plays are made, numbered from 1, and each has its arm, delay and regret."""
    run = play()
    assert run.steps.tolist() == list(range(1, T + 1))
    assert len(run.arms) == len(run.delays) == len(run.regret) == T
    assert run.failed_at is None


def test_regret_adds_up_the_gaps() -> None:
    """Regret is the running sum of the exact gaps of the arms played, for either payoff."""
    cost = play()
    assert np.array_equal(cost.regret, np.cumsum(PROBLEM.gaps("cost")[cost.arms]))
    reward = tarry.play(tarry.SE(), PROBLEM, payoff="reward", horizon=T)
    assert np.array_equal(reward.regret, np.cumsum(PROBLEM.gaps("reward")[reward.arms]))


def test_one_arm_has_no_regret() -> None:
    """With a single arm there is nothing to regret."""
    problem = tarry.problems.deterministic([3], max_delay=7)
    run = tarry.play(tarry.BDSE(), problem, payoff="cost", horizon=500)
    assert not run.regret.any()


@pytest.mark.parametrize("policy", [tarry.SE(), tarry.DelayedThompson(), tarry.Uniform()], ids=str)
def test_all_policies_meet_the_same_delays(policy: Any) -> None:
    """A delay is a function of (seed, step, arm), whoever plays and whatever was played before."""
    run = tarry.play(policy, PROBLEM, payoff="cost", horizon=T, seed=9)
    assert np.array_equal(run.delays, PROBLEM.delays(9, run.steps, run.arms))


def test_replayed_table_is_replayed() -> None:
    """The play of arm k in step s takes table[s - 1, k], under any seed."""
    table = np.random.default_rng(1).integers(0, 6, (300, 3))
    problem = tarry.problems.replay(table, max_delay=5)
    run = tarry.play(tarry.Uniform(), problem, payoff="cost", horizon=300, seed=4)
    assert np.array_equal(run.delays, table[np.arange(300), run.arms])


def test_seeds_matter() -> None:
    """Another seed brings other delays and other choices of a policy that draws."""
    ask = partial(tarry.play, tarry.Uniform(), PROBLEM, payoff="cost", horizon=T)
    one, other = ask(seed=1), ask(seed=2)
    assert not np.array_equal(one.arms, other.arms)
    assert not np.array_equal(one.delays, other.delays)


def test_policy_draws_apart_from_the_world() -> None:
    """The choices of a random policy do not depend on the problem, only on the seed."""
    harder = tarry.problems.bernoulli(arms=4, max_delay=90, seed=8)
    ask = partial(tarry.play, tarry.Uniform(), payoff="cost", horizon=T, seed=1)
    assert np.array_equal(ask(problem=PROBLEM).arms, ask(problem=harder).arms)


@given(record=st.lists(st.integers(1, T), min_size=1, max_size=30, unique=True).map(sorted))
def test_recorded_steps_are_those_of_the_full_run(record: list[int]) -> None:
    """A run that keeps some steps is the full run, of which it keeps these."""
    full, part = play(), play(record=record)
    rows = np.array(record) - 1
    assert part.steps.tolist() == record
    assert np.array_equal(part.arms, full.arms[rows])
    assert np.array_equal(part.delays, full.delays[rows])
    assert np.array_equal(part.regret, full.regret[rows])
    assert np.array_equal(part.restarts, full.restarts)


@pytest.mark.parametrize("form", [[1, 40, T], (1, 40, T), np.array([1, 40, T]), [1.0, 40.0, 2e3]])
def test_steps_may_be_any_list_of_whole_numbers(form: Any) -> None:
    """Lists, tuples, arrays and whole floats ask for the same steps."""
    assert play(record=form).steps.tolist() == [1, 40, T]


@given(points=st.integers(1, 400), horizon=st.integers(1, 10**9))
def test_evenly_spaced_steps(points: int, horizon: int) -> None:
    """A number asks for that many steps, fewer if there are not so many, ending at the horizon."""
    steps = evenly_spaced(points, horizon)
    assert steps[-1] == horizon
    assert len(steps) == min(points, horizon)
    assert steps[0] >= 1
    assert np.ptp(np.diff(steps, prepend=0)) <= 1


def test_restarts_are_where_the_regret_curve_says() -> None:
    """Restarts are increasing steps of the run, and none is lost if steps are left out."""
    problem = tarry.problems.deterministic([50, 400], max_delay=400)
    run = tarry.play(tarry.BDSE(), problem, payoff="cost", horizon=5000)
    few = tarry.play(tarry.BDSE(), problem, payoff="cost", horizon=5000, record=1)
    assert len(run.restarts) > 2
    assert (np.diff(run.restarts) > 0).all()
    assert np.array_equal(run.restarts, few.restarts)


@pytest.mark.parametrize("mode", ["compiled", "interpreted"])
def test_run_in_pieces_is_the_run(mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop is called piece by piece, and where it is cut leaves no trace."""
    whole = play(mode=mode)
    monkeypatch.setattr(play_module, "FIRST_STEPS", 7)
    monkeypatch.setattr(play_module, "PIECE_SECONDS", 0.0)
    told: list[tuple[int, int]] = []
    pieces = play(mode=mode, progress=lambda done, of: told.append((done, of)))
    assert np.array_equal(whole.arms, pieces.arms)
    assert np.array_equal(whole.regret, pieces.regret)
    assert np.array_equal(whole.restarts, pieces.restarts)
    assert told == [(done, T) for done in range(7, T + 1)]


def test_largest_delay_may_be_a_million() -> None:
    """Two-point laws with D = 10^6 are simulated like any others."""
    problem = tarry.problems.bernoulli(arms=3, max_delay=10**6, seed=0)
    run = tarry.play(tarry.OPSE(), problem, payoff="cost", horizon=10_000)
    assert set(run.delays.tolist()) == {0, 10**6}


def test_runs_are_compared_as_objects() -> None:
    """A run equals itself alone, and can be a member of a set."""
    one, other = play(record=1), play(record=1)
    assert len({one, other, one}) == 2


def test_rule_that_stops_ends_the_run() -> None:
    """CSE fails where its threshold is too low: the run ends there and says at which step."""
    problem = tarry.problems.deterministic([50, 400], max_delay=400)
    run = tarry.play(tarry.CSE(threshold=0.001), problem, payoff="cost", horizon=5000)
    assert run.failed_at == len(run.arms) + 1
    assert "failed at step" in repr(run)
    at_ends = tarry.play(
        tarry.CSE(threshold=0.001), problem, payoff="cost", horizon=5000, record=[1, 2, 5000]
    )
    assert at_ends.steps.tolist() == [1, 2]


def test_run_prints_a_line() -> None:
    """A run prints who played what, how far, and with which regret."""
    assert repr(play(record=1)) == (
        f"<Run of BDSE, cost, seed 5: 2000 steps, regret {play().regret[-1]:.6g}, "
        f"{len(play().restarts)} restarts, compiled>"
    )


class Enough(Exception):  # noqa: N818  # a signal, not an error
    """Raised by a test that has seen enough of a long run."""


def test_horizon_of_a_billion_is_begun_at_once() -> None:
    """A horizon of 10^9 needs no memory of that size, and can be interrupted on the way."""
    told: list[int] = []

    def stop(done: int, horizon: int) -> None:
        told.append(horizon)
        raise Enough

    with pytest.raises(Enough):
        tarry.play(tarry.SE(), PROBLEM, payoff="cost", horizon=10**9, record=100, progress=stop)
    assert told == [10**9]


def test_setting_tells_the_policy_what_it_may_know() -> None:
    """A policy is told arms, D, horizon and payoff, and nothing of the laws."""
    told: list[Setting] = []

    class Curious(tarry.Uniform):
        def start(self, setting: Setting) -> Any:
            told.append(setting)
            return super().start(setting)

    tarry.play(Curious(), PROBLEM, payoff="reward", horizon=10)
    assert told == [Setting(arms=4, max_delay=30, horizon=10, reward=True)]


def test_more_plays_out_than_memory_holds_are_refused() -> None:
    """In a sentence, before anything is asked of the machine; the size told is that of the run."""
    problem = tarry.problems.deterministic([5, 7], max_delay=2**28)
    with pytest.raises(InputError, match=r"max_delay of 268435456 would take 18\.0 GiB of memory"):
        tarry.play(tarry.SE(), problem, payoff="cost", horizon=10)
    plays = empty_plays(1000, regular=True, features=3)
    tables: tuple[Any, ...] = (*plays, *empty_calendar(len(plays.number)))
    columns = {id(column): column.nbytes for column in tables}  # one of them is there twice
    assert room_of(1000, features=3) == sum(columns.values())
