"""MABWiser: `predict` an arm, `partial_fit` what has arrived."""

import random
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from mabwiser.mab import MAB, LearningPolicy

from benchmarks.peers.driver import Adapter, Answer, ContextAnswer, Maker, Setting


class Fitted:
    """A bandit that cannot choose before its first fit.

    So each arm is played once, as UCB1 begins, and then again in turn until the first answer.
    """

    def __init__(self, policy: Any, arms: int, seed: int, coin: bool = False) -> None:
        self.bandit = MAB(list(range(arms)), policy, seed=seed)
        self.arms = arms
        self.fitted = False
        self.coin = random.Random(seed) if coin else None

    def choose(self, step: int) -> int:
        """Ask MABWiser, once every arm had its first play."""
        if not self.fitted or step <= self.arms:
            return (step - 1) % self.arms
        arm: int = self.bandit.predict()
        return arm

    def learn(self, answers: Sequence[Answer]) -> None:
        """Fit what has arrived; Thompson sampling wants 0 or 1, which a coin decides."""
        arms = [answer.arm for answer in answers]
        rewards = [answer.reward for answer in answers]
        if self.coin is not None:
            rewards = [int(self.coin.random() < reward) for reward in rewards]
        (self.bandit.partial_fit if self.fitted else self.bandit.fit)(arms, rewards)
        self.fitted = True


def ucb(arms: int, max_delay: int, seed: int) -> Fitted:
    """UCB1."""
    return Fitted(LearningPolicy.UCB1(alpha=1.0), arms, seed)


def thompson(arms: int, max_delay: int, seed: int) -> Fitted:
    """Thompson sampling with Beta posteriors."""
    return Fitted(LearningPolicy.ThompsonSampling(), arms, seed, coin=True)


class Linear:
    """A ridge regression per arm; it has no constant term, so the contexts begin with a 1."""

    def __init__(self, arms: int, seed: int, policy: str, **settings: float) -> None:
        learning = getattr(LearningPolicy, policy)(**settings)
        self.bandit = MAB(list(range(arms)), learning, seed=seed)
        self.arms = arms
        self.fitted = False

    def choose(self, step: int, context: Sequence[float]) -> int:
        """Ask MABWiser; arms in turn until the first answer."""
        if not self.fitted:
            return (step - 1) % self.arms
        arm: int = self.bandit.predict([[1.0, *context]])
        return arm

    def learn(self, answers: Sequence[ContextAnswer]) -> None:
        """Tell MABWiser."""
        (self.bandit.partial_fit if self.fitted else self.bandit.fit)(
            [answer.arm for answer in answers],
            [answer.reward for answer in answers],
            [[1.0, *answer.context] for answer in answers],
        )
        self.fitted = True


class MABWiser(Adapter):
    """MABWiser."""

    name = "MABWiser"
    policies: ClassVar[Mapping[str, Maker]] = {"UCB1": ucb, "ThompsonSampling": thompson}
    growing = staticmethod(thompson)
    documented: ClassVar[Setting] = {"policy": "LinUCB", "alpha": 1.25}
    tried: ClassVar[Sequence[Setting]] = [
        *[{"policy": "LinTS", "alpha": alpha} for alpha in (0.05, 0.15, 0.3)],
        *[{"policy": "LinUCB", "alpha": alpha} for alpha in (0.1, 0.3)],
    ]

    def count_policies(self) -> int:
        """Learning policies; each can be combined with a neighbourhood policy."""
        return len([name for name in vars(LearningPolicy) if name[0].isupper()])

    def contextual(self, arms: int, seed: int, setting: Setting | None = None) -> Linear:
        """A linear policy."""
        return Linear(arms, seed, **(setting or self.documented))

    def grow(self, learner: Fitted) -> None:
        """`add_arm`."""
        learner.bandit.add_arm(learner.arms)


ADAPTER = MABWiser()
