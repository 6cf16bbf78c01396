"""What a library really does: each probe makes it do something and watches.

A probe returns what was seen in a few words, beginning with "yes", "no" or "partly". Where the
adapter names nothing to try, nothing runs, and the answer says so: that is our reading of it.
"""

import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from benchmarks.peers.driver import Adapter, Answer, ContextAnswer, Learner, World, drive

NO_CALL = "no call for it found"


def late_answers(adapter: Adapter) -> str:
    """Answers that come 300 choices later and in reverse order are taken, and learned from."""
    rewards = (0.2, 0.9, 0.4)
    for make in adapter.policies.values():
        learner = make(3, 1000, 1)
        step = 0
        for _ in range(4):
            arms = {step + k: learner.choose(step + k) for k in range(1, 301)}
            step += 300
            learner.learn(
                [
                    _answer(s, arm, rewards[arm], 1000)
                    for s, arm in sorted(arms.items(), reverse=True)
                ]
            )
        share = np.mean([learner.choose(step + k) == 1 for k in range(1, 201)])
        if share < 0.5:
            return f"no: the best arm has {share:.0%} of the plays"
    return "yes"


def silent_arm(adapter: Adapter) -> str:
    """Stop playing an arm whose answers, quick for 300 steps, no longer come.

    The other arm costs 0.2. Nothing says that the first now costs 1 but the age of its plays.
    """
    most, known = 1000, 300
    table = np.full((known + most, 2), most // 5)
    table[:known, 0] = 1
    table[known:, 0] = most
    shares = {
        name: float(np.mean(np.equal(drive(make(2, most, 1), _world(table, most)).arms[-300:], 0)))
        for name, make in adapter.policies.items()
    }
    best = min(shares, key=lambda name: shares[name])
    word = "yes" if shares[best] < 0.2 else "no"
    return f"{word}: {best} gives the silent arm {shares[best]:.0%}"


def knows_pending(adapter: Adapter) -> str:
    """Five plays without an answer are known to be out, also after saving and restoring."""
    make = next(iter((adapter.durable or adapter.policies).values()))
    learner = make(3, 1000, 1)
    for step in range(1, 6):
        learner.choose(step)
    if adapter.pending(learner) is None:
        return NO_CALL
    return f"yes: {adapter.pending(adapter.copy(learner))} of 5 after a restart"


def same_seed(adapter: Adapter) -> str:
    """Two runs with one seed choose the same, though others draw random numbers meanwhile."""
    world = _noisy_world(400)
    for name, make in adapter.policies.items():
        first = drive(make(5, 20, 7), world).arms
        if drive(make(5, 20, 7), world).arms != first:
            return f"no: {name} differs from run to run"
        if drive(_Disturbed(make(5, 20, 7)), world).arms != first:
            return "partly: only if nobody else draws from the process's generator"
    return "yes"


def save_and_restore(adapter: Adapter) -> str:
    """A policy saved in mid-run and restored chooses as the original does."""
    for name, make in (adapter.durable or adapter.policies).items():
        learner = make(5, 20, 7)
        drive(learner, _noisy_world(300))
        try:
            twin = adapter.copy(learner)
        except (AttributeError, TypeError) as error:
            return f"no: {name} cannot be saved ({type(error).__name__})"
        more = _noisy_world(300, seed=2)
        if drive(learner, more).arms != drive(twin, more).arms:
            return f"partly: {name} restored chooses differently"
    return "yes"


def new_arm(adapter: Adapter) -> str:
    """An arm that is added to a running policy, and is the best, is found."""
    if adapter.growing is None:
        return NO_CALL
    learner = adapter.growing(3, 20, 3)
    rewards = (0.2, 0.4, 0.3, 0.9)
    chosen: list[int] = []
    for step in range(1, 2001):
        if step == 501:
            adapter.grow(learner)
        arm = learner.choose(step)
        chosen.append(arm)
        learner.learn([_answer(step, arm, rewards[arm], 20)])
    share = np.mean(np.equal(chosen[-500:], 3))
    return f"{'yes' if share > 0.5 else 'no'}: it gets {share:.0%} of the last plays"


def context(adapter: Adapter) -> str:
    """Where each of three contexts has another best arm, each gets its own."""
    learner = adapter.contextual(3, 5)
    if learner is None:
        return NO_CALL
    rng = random.Random(4)
    right: list[bool] = []
    for step in range(1, 1501):
        kind = rng.randrange(3)
        features = [float(kind == k) for k in range(3)]
        arm = learner.choose(step, features)
        right.append(arm == kind)
        learner.learn([ContextAnswer(step, arm, float(arm == kind), features)])
    share = np.mean(right[-500:])
    return f"{'yes' if share > 0.6 else 'no'}: right in {share:.0%} of the last plays"


def drift(adapter: Adapter) -> str:
    """After 8000 steps another arm becomes the best; it should have most of the next 2000."""
    table = np.full((10_000, 5), 6)
    table[:, 0] = 4
    table[8000:, 1] = 1
    candidates = adapter.drifting or adapter.policies
    shares = {
        name: float(np.mean(np.equal(drive(make(5, 10, 1), _world(table, 10)).arms[8000:], 1)))
        for name, make in candidates.items()
    }
    best = max(shares, key=lambda name: shares[name])
    word = "yes:" if adapter.drifting and shares[best] > 0.5 else "no policy for it found;"
    return f"{word} {best} plays it in {shares[best]:.0%}"


PROBES: Mapping[str, Callable[[Adapter], str]] = {
    "Takes answers late and out of order": late_answers,
    "Learns from plays still out": silent_arm,
    "Keeps the plays still out": knows_pending,
    "Same seed, same choices": same_seed,
    "Saved and restored, goes on the same": save_and_restore,
    "New arms while running": new_arm,
    "Contexts": context,
    "Payoffs that change": drift,
}


class _Disturbed:
    """A learner in a process where others draw random numbers too."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner

    def choose(self, step: int) -> int:
        random.random()
        np.random.random()  # noqa: NPY002 - the generator of the process is what is disturbed
        return self.learner.choose(step)

    def learn(self, answers: Sequence[Answer]) -> None:
        self.learner.learn(answers)


def _answer(step: int, arm: int, reward: float, most: int) -> Answer:
    return Answer(step, arm, reward, round((1 - reward) * most))


def _world(table: np.ndarray, most: int) -> World:
    return World(table, np.zeros(table.shape[1]), most, reward=False, recipe={})


def _noisy_world(steps: int, seed: int = 1) -> World:
    return _world(np.random.default_rng(seed).integers(0, 21, (steps, 5)), 20)
