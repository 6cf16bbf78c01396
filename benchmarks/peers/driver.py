"""The loop that drives every library, and what a library must offer to be driven.

This file, the adapters and the probes run in the environments of the peers, so they need nothing
but the standard library and NumPy.
"""

import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np


class Answer(NamedTuple):
    """An answer that arrives: of which play, of which arm, and its reward in [0, 1]."""

    step: int
    arm: int
    reward: float
    delay: int


class Learner(Protocol):
    """One bandit policy of one library."""

    def choose(self, step: int) -> int:
        """The arm of play number `step`."""

    def learn(self, answers: Sequence[Answer]) -> None:
        """These answers have arrived."""


Maker = Callable[[int, int, int], Learner]  # from arms, max_delay, seed


@dataclass(frozen=True)
class World:
    """A table of delays that everybody meets: the play of arm k at step s takes table[s - 1, k]."""

    table: Any
    gaps: Any
    max_delay: int
    reward: bool
    recipe: Mapping[str, Any]  # how tarry makes the same delays

    def save(self, path: str) -> None:
        """Write it for another process."""
        settings = np.array([self.max_delay, self.reward])
        recipe = np.array(sorted(f"{key}={value}" for key, value in self.recipe.items()))
        np.savez(path, table=self.table, gaps=self.gaps, settings=settings, recipe=recipe)

    @staticmethod
    def load(path: str) -> "World":
        """What `save` wrote."""
        with np.load(path) as file:
            max_delay, reward = (int(number) for number in file["settings"])
            recipe = dict(str(line).split("=", 1) for line in file["recipe"])
            return World(file["table"], file["gaps"], max_delay, bool(reward), recipe)


class Drive(NamedTuple):
    """What came of it."""

    arms: list[int]
    regret: float
    seconds: float  # of the processor, so that other programs do not count


def drive(learner: Learner, world: World) -> Drive:
    """Let the learner choose at every step, and bring it each answer when it arrives.

    The answer of a play at step s that takes d is known to the choice at step s + d + 1. As a
    cost, a delay d is handed over as the reward 1 - d / D.
    """
    rows = world.table.tolist()
    gaps = world.gaps.tolist()
    most = world.max_delay
    rewards = [d / most if world.reward else 1.0 - d / most for d in range(most + 1)]
    arriving: list[list[Answer]] = [[] for _ in range(most + 1)]
    arms: list[int] = []
    regret = 0.0
    begin = time.process_time()
    for step, row in enumerate(rows, start=1):
        arm = learner.choose(step)
        delay = row[arm]
        arms.append(arm)
        regret += gaps[arm]
        arriving[(step + delay) % (most + 1)].append(Answer(step, arm, rewards[delay], delay))
        today = step % (most + 1)
        if arriving[today]:
            learner.learn(arriving[today])
            arriving[today] = []
    return Drive(arms, regret, time.process_time() - begin)


class Adapter:
    """A library: its policies as learners, and what it can do beyond the common loop."""

    name = ""
    policies: ClassVar[Mapping[str, Maker]] = {}
    drifting: ClassVar[Mapping[str, Maker]] = {}  # those made for payoffs that change
    growing: Maker | None = None  # one that can be given more arms while it runs
    durable: ClassVar[Mapping[str, Maker]] = {}  # those that can be saved, if others cannot
    documented: ClassVar["Setting"] = {}  # for contexts: as the documentation has it
    tried: ClassVar[Sequence["Setting"]] = ()  # for contexts: from which a tuned one is chosen

    def names(self) -> list[str]:
        """What can be measured."""
        return list(self.policies)

    def run(self, policy: str, world: World, seed: int) -> Drive:
        """Drive one of the policies; a library with a simulator of its own may use it."""
        return drive(self.policies[policy](world.table.shape[1], world.max_delay, seed), world)

    def count_policies(self) -> int:
        """How many bandit policies the library has."""
        raise LookupError(self.name)

    def contextual(
        self, arms: int, seed: int, setting: "Setting | None" = None
    ) -> "ContextLearner | None":
        """A policy whose choice depends on a context, None if there is none.

        Without a setting it is the documented one.
        """
        return None

    def grow(self, learner: Any) -> None:
        """Add one arm to a learner made by `growing`."""

    def pending(self, learner: Any) -> int | None:
        """How many plays are out as far as the library knows, None if it does not keep them."""
        return None

    def copy(self, learner: Any) -> Any:
        """Save the learner in the library's own way and restore it; pickle where it has none."""
        return pickle.loads(pickle.dumps(learner))  # noqa: S301 - our own bytes, made just now


Setting = Mapping[str, Any]  # of a policy with contexts, in the words of its library


class ContextAnswer(NamedTuple):
    """An answer that arrives, with what was known of the request."""

    step: int
    arm: int
    reward: float
    context: Sequence[float]


class ContextLearner(Protocol):
    """A policy that sees a context of numbers before each choice."""

    def choose(self, step: int, context: Sequence[float]) -> int:
        """The arm of play number `step`, for this context."""

    def learn(self, answers: Sequence[ContextAnswer]) -> None:
        """These answers have arrived."""
