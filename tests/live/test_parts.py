"""The parts of an agent: survival curves, play density, desks, time."""

import numpy as np
import pytest

import tarry
from tarry.errors import InputError
from tarry.live import ManualClock
from tarry.live.arms import add_arm, pause_arm, remove_arm
from tarry.live.clock import Clock, SystemClock, Ticker, as_clock
from tarry.live.core import Core
from tarry.live.curve import DelayCurve
from tarry.live.maker import listed
from tarry.live.pace import Pace
from tarry.policies.protocol import Setting

D = 1_000_000


def test_a_curve_estimates_the_mean_of_known_delays() -> None:
    """With all delays known, the estimate is their mean and the interval that of the mean."""
    rng = np.random.default_rng(1)
    delays = np.minimum(rng.exponential(200_000, 5000), D).astype(int)
    curve = DelayCurve(D)
    curve.came_back(delays)
    estimate = curve.estimate()
    error = delays.std() / np.sqrt(len(delays))
    assert abs(estimate.mean - delays.mean()) < 0.2 * error
    half = (estimate.high - estimate.low) / 2
    assert half == pytest.approx(1.96 * error, rel=0.1)


def test_intervals_cover_the_mean() -> None:
    """A third of 300 plays cut short, 95 % intervals hold the mean as often as they say."""
    rng = np.random.default_rng(2)
    true_mean = 200_000 * (1 - np.exp(-5.0))
    held = 0
    for _ in range(300):
        curve = DelayCurve(D)
        pending = []
        for delay in np.minimum(rng.exponential(200_000, 300), D).astype(int).tolist():
            watched = int(rng.exponential(400_000))
            if delay <= watched:
                curve.came_back([delay])
            elif rng.random() < 0.5:
                curve.cancelled(np.array([min(watched, D - 1)]))
            else:
                pending.append(min(watched, D - 1))
        estimate = curve.estimate(pending)
        held += estimate.low <= true_mean <= estimate.high
    assert held / 300 > 0.95 - 4 * np.sqrt(0.05 * 0.95 / 300)


def test_what_is_expected_beyond_an_age() -> None:
    """The exponential law forgets its age; nothing known leaves the age or more; D is the end."""
    rng = np.random.default_rng(3)
    curve = DelayCurve(D)
    delays = np.minimum(rng.exponential(50_000, 20_000), D).astype(int)
    curve.came_back(delays)
    for age in (0, 30_000, 100_000):
        beyond = delays[delays >= age]
        error = beyond.std() / np.sqrt(len(beyond))
        assert (
            abs(curve.expected_beyond(np.array([age]))[0] - beyond.mean())
            < 5 * error + 0.01 * beyond.mean()
        )
    fresh = DelayCurve(D)
    for age in (0, 1, 999, D // 2, D - 1):
        assert age <= fresh.expected_beyond(np.array([age]))[0] <= D


def test_a_tiny_maximum_delay_works() -> None:
    """D may be a single tick."""
    curve = DelayCurve(1)
    curve.came_back([0, 1])
    assert 0 <= curve.estimate([0]).mean <= 1


def naive_spacing(times: list[int], max_delay: int) -> int:
    """The definition, over the plays of the last D."""
    latest = times[-1]
    recent = [t for t in reversed(times) if t > latest - max_delay]
    return min((latest - t) // k for k, t in enumerate(recent) if k)


@pytest.mark.parametrize("kind", ["even", "random", "bursts", "slowing", "quickening"])
def test_spacing_is_the_least_time_per_play(kind: str) -> None:
    """Never above the definition over the last D, never below that over the last 5/4 D."""
    rng = np.random.default_rng(4)
    gaps = {
        "even": np.full(400, 30),
        "random": rng.integers(0, 100, 400),
        "bursts": np.where(rng.random(400) < 0.1, 400, 1),
        "slowing": np.arange(1, 401) // 4,
        "quickening": np.arange(400, 0, -1) // 4,
    }[kind]
    times = np.cumsum(gaps).tolist()
    pace = Pace(1000)
    for k, time in enumerate(times, 1):
        spacing = pace.add(time)
        known = times[:k]
        if len([t for t in known if t > time - 1000]) > 1:
            assert spacing <= max(naive_spacing(known, 1000), 1)
            assert spacing >= max(naive_spacing(known, 1250), 1)


def test_moving_arms_takes_their_evidence_along() -> None:
    """Growing, pausing and removing keep every number that belongs to an arm, and B."""
    setting = Setting(3, D, 1000, reward=False)
    core = Core(tarry.BDSE(), ["a", "b", "c"], setting, 0)
    now = 0
    for _ in range(40):
        arm = core.decide(now)
        assert arm is not None
        number = core.start(arm, now)
        now += 1000
        core.tell(number, 500_000 if arm.name == "b" else 100_000, now)
    core.open.rule.cse.threshold[0] = 0.25
    before = {
        arm.name: arm.desk.ledger.seen_sum[arm.index] for arm in core.arms.values() if arm.desk
    }
    pause_arm(core, "a", now, paused=True)
    add_arm(core, "d", now)
    remove_arm(core, "b", now)
    assert [arm.name for arm in core.open.arms] == ["c", "d"]
    assert core.open.ledger.seen_sum == [before["c"], 0]
    assert core.paused is not None
    assert core.paused.ledger.seen_sum == [before["a"]]
    assert core.open.rule.cse.threshold == [0.25]
    pause_arm(core, "a", now, paused=False)
    assert [arm.name for arm in core.open.arms] == ["a", "c", "d"]
    assert core.open.ledger.seen_sum == [before["a"], before["c"], 0]
    assert core.open.rule.cse.sweep.position == [3, 0]


def test_paused_arms_forget_a_failed_phase_too() -> None:
    """When BDSE starts again from nothing, an arm that rests starts from nothing as well."""
    core = Core(tarry.BDSE(), ["a", "b"], Setting(2, 1000, 100, reward=False), 0)
    now = 1
    arm = core.decide(now)
    assert arm is not None
    core.tell(core.start(arm, now), 900, now)
    pause_arm(core, arm.name, now, paused=True)
    while core.failures == 0:
        now += 100
        other = core.decide(now)
        assert other is not None
        core.tell(core.start(other, now), 900, now)
    assert core.paused is not None
    assert core.paused.ledger.plays == [0]
    assert core.paused.ledger.phase[0] == core.open.ledger.phase[0] > 1


def test_rules_become_lists_at_all_depths() -> None:
    """What interpreted code works on are plain numbers, in nested tuples too."""
    rule = listed(tarry.BDSE().start(Setting(2, 10, 100, reward=False)))
    assert rule.cse.sweep.active == [0, 1]
    assert type(rule.cse.threshold) is list


def test_clocks() -> None:
    """The machine's clocks, a manual one, a function; anything else is refused."""
    assert isinstance(as_clock(None), SystemClock)
    manual = ManualClock(2.0)
    assert as_clock(manual) is manual
    assert isinstance(manual, Clock)
    ticker = Ticker(manual)
    manual.advance(-1.0)
    assert ticker.now() == 0
    manual.advance(0.25)
    assert ticker.now() == 250_000
    assert ticker.utc(250_000) == 2.25
    assert as_clock(lambda: 3.0).utc() == 3.0
    with pytest.raises(InputError, match="The clock is 'noon'"):
        as_clock("noon")  # type: ignore[arg-type]  # wrong on purpose
