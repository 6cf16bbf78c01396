"""The replay of a policy on a log: the same rules as in the simulator, and no bias."""

import numpy as np
import pytest

import tarry
from tarry.errors import InputError, PolicyError
from tarry.logs.replay import completed, play_queues, shares_shifted
from tarry.survival_curve import kaplan_meier

from .made_up import export


@pytest.mark.parametrize("policy", [tarry.SurvivalThompson(), tarry.BDSE(), tarry.DelayedUCB()])
def test_replay_tells_a_rule_what_the_simulator_tells(policy: tarry.policies.Policy) -> None:
    """A table with the delays that a replay handed out is played to the same arms."""
    rng = np.random.default_rng(1)
    queues = [rng.integers(0, 30, 200) for _ in range(3)]
    setting = tarry.Setting(arms=3, max_delay=30, horizon=200, reward=False)
    arms, delays = play_queues(policy, setting, queues, seed=5)
    table = rng.integers(0, 30, (200, 3))
    table[np.arange(200), arms] = delays
    problem = tarry.problems.replay(table, max_delay=30)
    run = tarry.play(policy, problem, payoff="cost", horizon=200, seed=5, mode="interpreted")
    assert run.arms.tolist() == arms.tolist()


def test_rows_are_handed_out_once_and_in_turn() -> None:
    """Each play of an arm gets its next row; at the end of a queue the run ends."""
    setting = tarry.Setting(arms=2, max_delay=9, horizon=50, reward=True)
    queues = [np.arange(5), np.arange(5, 7)]
    arms, delays = play_queues(tarry.Uniform(), setting, queues, seed=0)
    assert len(arms) < 7
    for arm in range(2):
        given = delays[arms == arm]
        assert given.tolist() == queues[arm][: len(given)].tolist()


def test_replay_of_equal_shares_is_the_mean_of_the_means() -> None:
    """Without unfinished plays the replay of a random choice estimates what is known exactly."""
    rng = np.random.default_rng(2)
    times = np.concatenate([rng.integers(0, 40, 150), rng.integers(10, 60, 150)])
    log = tarry.Log.of(["a"] * 150 + ["b"] * 150, times, finished=True, max_delay=60)
    replayed = log.replay(tarry.Uniform(), payoff="reward", runs=40)
    truth = (times[:150].mean() + times[150:].mean()) / 2
    assert replayed.plays == 150
    assert replayed.cut_short == 0
    assert replayed.logged == pytest.approx(truth)
    assert abs(replayed.mean - truth) < 5 * replayed.runs.std() / 40**0.5
    assert sum(replayed.shares.values()) == pytest.approx(1)
    assert "Uniform: " in str(replayed)


def test_learning_beats_the_choices_of_the_log() -> None:
    """On the visits of the tutorial, learning shows the essay more often, and holds readers."""
    replayed = export(4).replay(tarry.SurvivalThompson(), payoff="reward", runs=5, unit=10)
    assert replayed.shares["essay"] > 0.5
    assert replayed.mean > replayed.logged
    again = export(4).replay(tarry.SurvivalThompson(), payoff="reward", runs=5, unit=10)
    assert again.runs.tolist() == replayed.runs.tolist()


def test_given_up_plays_are_completed_from_the_curve() -> None:
    """What is drawn lies beyond the age, with the mean of the plays that were watched beyond it."""
    rng = np.random.default_rng(3)
    times = np.arange(1.0, 21.0)
    curve = kaplan_meier(times, np.ones(20, bool))
    drawn = [completed(curve, 10.0, 50.0, rng) for _ in range(2000)]
    assert min(drawn) == 11
    assert np.mean(drawn) == pytest.approx(times[10:].mean(), abs=5 * times[10:].std() / 2000**0.5)
    open_end = kaplan_meier(times, times < 20)
    assert completed(open_end, 20.0, 50.0, rng) == 50


def test_bad_replays_are_refused() -> None:
    """More plays than rows, or what is no policy."""
    log = tarry.Log.of(["a", "b"] * 5, range(10), finished=True, max_delay=20)
    with pytest.raises(InputError, match="number of plays is 11; it must be a whole number from"):
        log.replay(tarry.Uniform(), payoff="cost", plays=11)
    with pytest.raises(PolicyError):
        log.replay(tarry.Uniform, payoff="cost")  # type: ignore[arg-type]  # that is the point
    cut = log.replay(tarry.Uniform(), payoff="cost", plays=10, runs=3)
    assert cut.cut_short > 0
    assert "ended early, which may mislead" in str(cut)


def greedy(rng: np.random.Generator) -> tuple[list[str], list[float]]:
    """Plays of two equal arms (0 or 60, even chances) by somebody who follows the means."""
    arms, times = ["a", "b"], rng.choice([0.0, 60.0], 2).tolist()
    for _ in range(98):
        means = [np.mean([t for arm, t in zip(arms, times, strict=True) if arm == x]) for x in "ab"]
        arms.append("ab"[int(means[1] > means[0])])
        times.append(float(rng.choice([0.0, 60.0])))
    return arms, times


def test_a_log_whose_shares_followed_the_plays_is_told() -> None:
    """There replay is biased, and says that it may be; equal shares give no alarm."""
    rng = np.random.default_rng(7)
    fair = ["a", "b"] * 50
    alarms = {"fair": 0, "greedy": 0, "sorted": 0}
    for _ in range(20):
        arms, times = greedy(rng)
        for name, chosen, start in (
            ("greedy", arms, range(100)),
            ("fair", fair, range(100)),
            ("sorted", sorted(fair), None),
        ):
            log = tarry.Log.of(chosen, times, True, max_delay=60, start=start)
            alarms[name] += shares_shifted(log)
    assert alarms["fair"] == alarms["sorted"] == 0
    assert alarms["greedy"] >= 5
    shifted = tarry.Log.of(
        ["a", "b"] * 20 + ["a"] * 60, [1, 2] * 50, True, max_delay=9, start=range(100)
    )
    said = str(shifted.replay(tarry.Uniform(), payoff="reward", runs=2))
    assert "this is biased" in said
    assert "better" not in said
