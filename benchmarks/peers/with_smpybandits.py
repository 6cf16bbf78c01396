"""SMPyBandits: `choice`, then `getReward` when the answer arrives."""

import inspect
import random
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from SMPyBandits import Policies
from SMPyBandits.Policies.BasePolicy import BasePolicy

from benchmarks.peers.driver import Adapter, Answer, Maker


class Indexed:
    """An index policy; its randomness is that of the whole process."""

    def __init__(self, policy: Any, seed: int) -> None:
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - the generator that SMPyBandits draws from
        self.policy = policy
        self.policy.startGame()

    def choose(self, step: int) -> int:
        """Ask SMPyBandits."""
        return int(self.policy.choice())

    def learn(self, answers: Sequence[Answer]) -> None:
        """Tell SMPyBandits, answer by answer."""
        for answer in answers:
            self.policy.getReward(answer.arm, answer.reward)


def ucb(arms: int, max_delay: int, seed: int) -> Indexed:
    """UCB1."""
    return Indexed(Policies.UCB(arms), seed)


def thompson(arms: int, max_delay: int, seed: int) -> Indexed:
    """Thompson sampling with Beta posteriors; it flips the coin itself."""
    return Indexed(Policies.Thompson(arms), seed)


def discounted(arms: int, max_delay: int, seed: int) -> Indexed:
    """Thompson sampling whose posteriors fade."""
    return Indexed(Policies.DiscountedThompson(arms, gamma=0.99), seed)


class SMPyBandits(Adapter):
    """SMPyBandits."""

    name = "SMPyBandits"
    policies: ClassVar[Mapping[str, Maker]] = {"UCB": ucb, "Thompson": thompson}
    drifting: ClassVar[Mapping[str, Maker]] = {"DiscountedThompson": discounted}

    def count_policies(self) -> int:
        """Subclasses of its base policy."""
        found = [c for c in vars(Policies).values() if inspect.isclass(c)]
        return len({c for c in found if issubclass(c, BasePolicy)})


ADAPTER = SMPyBandits()
