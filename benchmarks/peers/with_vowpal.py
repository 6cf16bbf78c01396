"""Vowpal Wabbit: `predict` a distribution over arms, `learn` the cost of the arm played."""

import random
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from vowpalwabbit import Workspace

from benchmarks.peers.driver import Adapter, Answer, ContextAnswer, Maker, Setting


class Explorer:
    """A contextual bandit without context; the caller draws the arm and keeps its probability."""

    def __init__(self, options: str, arms: int, seed: int) -> None:
        self.options = f"--cb_explore {arms} --random_seed {seed} --quiet {options}"
        self.vw: Any = Workspace(self.options)
        self.rng = random.Random(seed)
        self.probability: dict[int, float] = {}  # of the plays still out

    def choose(self, step: int) -> int:
        """Draw an arm from what Vowpal Wabbit predicts."""
        weights = self.vw.predict("| all")
        arm = self.rng.choices(range(len(weights)), weights)[0]
        self.probability[step] = weights[arm]
        return arm

    def learn(self, answers: Sequence[Answer]) -> None:
        """Tell Vowpal Wabbit the cost, with the probability that the arm had."""
        for answer in answers:
            chance = self.probability.pop(answer.step)
            self.vw.learn(f"{answer.arm + 1}:{1.0 - answer.reward}:{chance} | all")


def greedy(arms: int, max_delay: int, seed: int) -> Explorer:
    """Epsilon-greedy, the default, with its default 5 % of exploration."""
    return Explorer("--epsilon 0.05", arms, seed)


def square(arms: int, max_delay: int, seed: int) -> Explorer:
    """SquareCB."""
    return Explorer("--squarecb", arms, seed)


def constant_rate(arms: int, max_delay: int, seed: int) -> Explorer:
    """Epsilon-greedy whose learning rate does not fall."""
    return Explorer("--epsilon 0.1 --power_t 0", arms, seed)


class Listed(Explorer):
    """The arms are listed anew at each choice, so that their number may change."""

    def __init__(self, arms: int, max_delay: int, seed: int) -> None:
        super().__init__("", arms, seed)
        self.vw = Workspace(f"--cb_explore_adf --epsilon 0.1 --random_seed {seed} --quiet")
        self.arms = arms

    def choose(self, step: int) -> int:
        """Draw an arm from what Vowpal Wabbit predicts for this list."""
        weights = self.vw.predict([f"| arm={arm}" for arm in range(self.arms)])
        arm = self.rng.choices(range(len(weights)), weights)[0]
        self.probability[step] = weights[arm]
        return arm

    def learn(self, answers: Sequence[Answer]) -> None:
        """Tell the cost of one arm of the list."""
        for answer in answers:
            label = f"0:{1.0 - answer.reward}:{self.probability.pop(answer.step)} "
            lines = [f"| arm={arm}" for arm in range(self.arms)]
            lines[answer.arm] = label + lines[answer.arm]
            self.vw.learn(lines)


class Contextual:
    """The same with features."""

    def __init__(self, arms: int, seed: int, options: str) -> None:
        self.vw: Any = Workspace(f"--cb_explore {arms} --random_seed {seed} --quiet {options}")
        self.rng = random.Random(seed)
        self.chance: dict[int, float] = {}  # of the plays still out

    def choose(self, step: int, context: Sequence[float]) -> int:
        """Draw an arm."""
        weights = self.vw.predict(_features(context))
        arm = self.rng.choices(range(len(weights)), weights)[0]
        self.chance[step] = weights[arm]
        return arm

    def learn(self, answers: Sequence[ContextAnswer]) -> None:
        """Tell the cost."""
        for answer in answers:
            label = f"{answer.arm + 1}:{1.0 - answer.reward}:{self.chance.pop(answer.step)}"
            self.vw.learn(f"{label} {_features(answer.context)}")


def _features(context: Sequence[float]) -> str:
    return "| " + " ".join(f"x{place}:{value}" for place, value in enumerate(context))


class VowpalWabbit(Adapter):
    """Vowpal Wabbit."""

    name = "Vowpal Wabbit"
    policies: ClassVar[Mapping[str, Maker]] = {"epsilon-greedy": greedy, "SquareCB": square}
    drifting: ClassVar[Mapping[str, Maker]] = {"constant learning rate": constant_rate}
    growing = Listed
    documented: ClassVar[Setting] = {"options": "--epsilon 0.05"}
    tried: ClassVar[Sequence[Setting]] = [
        {"options": options}
        for options in (
            "--epsilon 0.01",
            "--epsilon 0.01 --cb_type dm",
            "--squarecb --gamma_scale 10000",
            "--squarecb",
            "--squarecb --gamma_scale 100",
            "--squarecb --gamma_scale 1000",
            "--bag 5 --epsilon 0",
            "--cover 4 --epsilon 0",
        )
    ]

    def count_policies(self) -> int:
        """Ways of exploration that `--cb_explore` takes: each is tried."""
        ways = ("--first 2", "--epsilon 0.1", "--bag 2", "--cover 2", "--squarecb", "--softmax")
        return len([way for way in ways if _starts(f"--cb_explore 2 --quiet {way}")])

    def contextual(self, arms: int, seed: int, setting: Setting | None = None) -> Contextual:
        """Its purpose."""
        return Contextual(arms, seed, (setting or self.documented)["options"])

    def grow(self, learner: Listed) -> None:
        """List one more."""
        learner.arms += 1

    def copy(self, learner: Explorer) -> Explorer:
        """Its own model file; the generator and the plays still out belong to the caller."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.vw"
            learner.vw.save(path)
            twin = Explorer.__new__(Explorer)
            twin.vw = Workspace(f"{learner.options} -i {path}")
        twin.options = learner.options
        twin.rng = random.Random()
        twin.rng.setstate(learner.rng.getstate())
        twin.probability = dict(learner.probability)
        return twin


def _starts(options: str) -> bool:
    try:
        Workspace(options).finish()
    except RuntimeError:
        return False
    return True


ADAPTER = VowpalWabbit()
