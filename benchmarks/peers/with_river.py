"""river: `pull` an arm, `update` it when the answer arrives."""

import inspect
import random
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from river import bandit, proba, stats

from benchmarks.peers.driver import Adapter, Answer, ContextAnswer, Maker, Setting


class Direct:
    """A policy that takes a reward in [0, 1] as it is."""

    def __init__(self, policy: Any, arms: int) -> None:
        self.policy = policy
        self.arms = list(range(arms))

    def choose(self, step: int) -> int:
        """Ask river."""
        arm: int = self.policy.pull(self.arms)
        return arm

    def learn(self, answers: Sequence[Answer]) -> None:
        """Tell river, answer by answer."""
        for answer in answers:
            self.policy.update(answer.arm, answer.reward)


class Coin(Direct):
    """A policy with a Beta posterior wants 0 or 1: a coin that shows 1 with this probability."""

    def __init__(self, policy: Any, arms: int, seed: int) -> None:
        super().__init__(policy, arms)
        self.coin = random.Random(seed)

    def learn(self, answers: Sequence[Answer]) -> None:
        """Tell river whether the coin showed 1."""
        for answer in answers:
            self.policy.update(answer.arm, self.coin.random() < answer.reward)


def ucb(arms: int, max_delay: int, seed: int) -> Direct:
    """UCB1."""
    return Direct(bandit.UCB(delta=1, seed=seed), arms)


def thompson(arms: int, max_delay: int, seed: int) -> Coin:
    """Thompson sampling with Beta posteriors."""
    return Coin(bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=seed), arms, seed)


def fading(arms: int, max_delay: int, seed: int) -> Direct:
    """Epsilon-greedy on means that fade."""
    means = stats.EWMean(fading_factor=0.2)
    return Direct(bandit.EpsilonGreedy(epsilon=0.1, reward_obj=means, seed=seed), arms)


class Linear:
    """LinUCB with a model per arm, without a constant term, so the contexts begin with a 1."""

    def __init__(self, arms: int, seed: int, **settings: float) -> None:
        self.policy = bandit.LinUCBDisjoint(seed=seed, **settings)
        self.arms = list(range(arms))

    def choose(self, step: int, context: Sequence[float]) -> int:
        """Ask river."""
        arm: int = self.policy.pull(self.arms, context=dict(enumerate((1.0, *context))))
        return arm

    def learn(self, answers: Sequence[ContextAnswer]) -> None:
        """Tell river, answer by answer."""
        for answer in answers:
            context = dict(enumerate((1.0, *answer.context)))
            self.policy.update(answer.arm, context, answer.reward)


class River(Adapter):
    """river."""

    name = "river"
    policies: ClassVar[Mapping[str, Maker]] = {"UCB": ucb, "ThompsonSampling": thompson}
    drifting: ClassVar[Mapping[str, Maker]] = {"EpsilonGreedy on EWMean": fading}
    growing = staticmethod(thompson)
    documented: ClassVar[Setting] = {"alpha": 1.0, "beta": 1.0}
    tried: ClassVar[Sequence[Setting]] = [
        {"alpha": 1.0, "beta": beta} for beta in (5.0, 25.0, 100.0, 400.0)
    ]

    def count_policies(self) -> int:
        """Classes of `river.bandit`."""
        return len(
            [c for c in vars(bandit).values() if inspect.isclass(c) and c.__name__[0] != "_"]
        )

    def contextual(self, arms: int, seed: int, setting: Setting | None = None) -> Linear:
        """LinUCB."""
        return Linear(arms, seed, **(setting or self.documented))

    def grow(self, learner: Direct) -> None:
        """The arms are given anew at each choice."""
        learner.arms.append(len(learner.arms))


ADAPTER = River()
