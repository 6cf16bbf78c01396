"""Requests that differ, for libraries that can look at them; runs in the environments of the peers.

As in `benchmarks.peers.driver` everybody meets the same requests and the same delays, and hears of
an answer when it arrives.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.peers.driver import ContextAnswer, ContextLearner, Drive


@dataclass(frozen=True)
class Requests:
    """A table of delays, and the request of each step."""

    table: Any  # (steps, arms)
    kinds: Any  # (steps,): which request a step has
    features: Any  # (requests, numbers)
    gaps: Any  # (requests, arms)
    uniform: float  # regret of a step if all arms are played alike
    max_delay: int
    reward: bool

    def save(self, path: str) -> None:
        """Write it for another process."""
        arrays = {name: value for name, value in vars(self).items() if hasattr(value, "shape")}
        settings = np.array([self.uniform, self.max_delay, self.reward])
        np.savez(path, settings=settings, **arrays)

    @staticmethod
    def load(path: str) -> "Requests":
        """What `save` wrote."""
        with np.load(path) as file:
            uniform, max_delay, reward = file["settings"].tolist()
            arrays = {name: file[name] for name in ("table", "kinds", "features", "gaps")}
        return Requests(**arrays, uniform=uniform, max_delay=int(max_delay), reward=bool(reward))


def drive_contexts(learner: ContextLearner, world: Requests) -> Drive:
    """Let the learner choose for every request, and bring it each answer when it arrives.

    The answer of a play at step s that takes d is known to the choice at step s + d + 1; one that
    has not come by D is told as D. As a cost, a delay d is handed over as the reward 1 - d / D.
    """
    most = world.max_delay
    rewards = [d / most if world.reward else 1.0 - d / most for d in range(most + 1)]
    contexts, gaps = world.features.tolist(), world.gaps.tolist()
    arriving: list[list[ContextAnswer]] = [[] for _ in range(most + 1)]
    arms: list[int] = []
    regret = 0.0
    begin = time.process_time()
    steps = zip(world.table.tolist(), world.kinds.tolist(), strict=True)
    for step, (row, kind) in enumerate(steps, start=1):
        arm = learner.choose(step, contexts[kind])
        arms.append(arm)
        regret += gaps[kind][arm]
        answer = ContextAnswer(step, arm, rewards[row[arm]], contexts[kind])
        arriving[(step + row[arm]) % (most + 1)].append(answer)
        today = step % (most + 1)
        if arriving[today]:
            learner.learn(arriving[today])
            arriving[today] = []
    return Drive(arms, regret, time.process_time() - begin)
