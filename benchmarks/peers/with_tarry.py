"""tarry, in both of its forms: the compiled simulator, and an agent asked and told in Python."""

import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import tarry
from benchmarks.peers.driver import Adapter, Answer, Drive, Maker, Setting, World, drive
from tarry.live import Agent, ManualClock


class Asked:
    """An agent on a clock that moves one second per step, so that max_delay is in seconds."""

    def __init__(
        self,
        policy: Any,
        arms: int,
        max_delay: int,
        seed: int,
        *,
        payoff: str = "cost",
        kept: bool = False,
    ) -> None:
        self.policy = policy
        self.payoff = payoff
        self.max_delay = max_delay
        self.clock = ManualClock()
        self.folder = tempfile.TemporaryDirectory() if kept else None
        self.path = Path(self.folder.name) / "agent.db" if self.folder else None
        self.names = [str(arm) for arm in range(arms)]
        self.numbers = {name: arm for arm, name in enumerate(self.names)}
        self.agent = self.open(self.path, seed)
        self.ids: dict[int, int] = {}
        self.begin = self.last = 0

    def open(self, path: Path | None, seed: int | None = None) -> Any:
        """An agent, or the one that is kept in the file."""
        return Agent(
            self.policy,
            arms=self.names,
            payoff=self.payoff,
            max_delay=self.max_delay,
            path=path,
            seed=seed,
            clock=self.clock,
            durability="normal",
            in_flight="keep",
        )

    def choose(self, step: int) -> int:
        """Ask; steps that begin again at 1 go on in time."""
        if step <= self.last:
            self.begin += self.last
        self.last = step
        self.clock.time = float(self.begin + step)
        play = self.agent.ask()
        self.ids[step] = play.id
        return self.numbers[play.arm]

    def learn(self, answers: Sequence[Answer]) -> None:
        """Tell."""
        for answer in answers:
            self.agent.tell(self.ids.pop(answer.step), delay=float(answer.delay))


class AskedWithContext(Asked):
    """An agent that is told the numbers of each request, from the first one on."""

    def __init__(self, policy: Any, arms: int, max_delay: int, seed: int, payoff: str) -> None:
        self.features: dict[str, Any] | None = None
        super().__init__(policy, arms, max_delay, seed, payoff=payoff)
        self.seed = seed

    def open(self, path: Path | None, seed: int | None = None) -> Any:
        """No agent before the number of features is known."""
        if self.features is None:
            return None
        return Agent(
            self.policy,
            arms=self.names,
            payoff=self.payoff,
            max_delay=self.max_delay,
            seed=seed,
            clock=self.clock,
            features=self.features,
        )

    def choose(self, step: int, context: Sequence[float] = ()) -> int:
        """Ask with a context."""
        if self.features is None:
            self.features = {f"x{place}": float for place in range(len(context))}
            self.agent = self.open(None, self.seed)
        self.clock.time = float(step)
        play = self.agent.ask(context=dict(zip(self.features, context, strict=True)))
        self.ids[step] = play.id
        return self.numbers[play.arm]

    def learn(self, answers: Sequence[Any]) -> None:
        """Tell the delay that the reward stands for."""
        for answer in answers:
            share = answer.reward if self.payoff == "reward" else 1.0 - answer.reward
            self.agent.tell(self.ids.pop(answer.step), delay=round(share * self.max_delay))


def asked(policy: Any, *, kept: bool = False) -> Maker:
    """Agents of this policy."""
    return lambda arms, max_delay, seed: Asked(policy, arms, max_delay, seed, kept=kept)


class Tarry(Adapter):
    """tarry."""

    name = "tarry"
    simulated: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        **{
            cls.__name__: {"cost": cls(), "reward": cls()}
            for cls in (
                tarry.DelayedUCB,
                tarry.DelayedThompson,
                tarry.SurvivalThompson,
                tarry.SurvivalUCB,
            )
        },
        "BDSE or BHSE": {"cost": tarry.BDSE(), "reward": tarry.BHSE()},
    }
    live: ClassVar[Mapping[str, Any]] = {
        "Agent of DelayedUCB": tarry.DelayedUCB(),
        "Agent of DelayedThompson": tarry.DelayedThompson(),
        "Agent of SurvivalThompson": tarry.SurvivalThompson(),
    }
    policies: ClassVar[Mapping[str, Maker]] = {name: asked(policy) for name, policy in live.items()}
    durable: ClassVar[Mapping[str, Maker]] = {
        name: asked(policy, kept=True) for name, policy in live.items()
    }
    drifting: ClassVar[Mapping[str, Maker]] = {
        "Agent of RegimeThompson": asked(tarry.RegimeThompson())
    }
    growing = staticmethod(asked(tarry.SurvivalThompson()))
    documented: ClassVar[Setting] = {"max_delay": 100, "payoff": "reward"}

    def names(self) -> list[str]:
        """The simulator for five, the agent for three."""
        return [*self.simulated, *self.policies]

    def run(self, policy: str, world: World, seed: int) -> Drive:
        """The simulator plays the same delays, which it computes itself; compilation is over."""
        steps, arms = world.table.shape
        payoff: Any = "reward" if world.reward else "cost"
        if policy in self.live:
            agent = Asked(self.live[policy], arms, world.max_delay, seed, payoff=payoff)
            return drive(agent, world)
        chosen = self.simulated[policy][payoff]
        family = getattr(tarry.problems, world.recipe["family"])
        problem = family(arms=arms, max_delay=world.max_delay, seed=int(world.recipe["seed"]))
        tarry.play(chosen, problem, payoff=payoff, horizon=10)
        draws = int(world.recipe["draws"])
        begin = time.process_time()
        run = tarry.play(chosen, problem, payoff=payoff, horizon=steps, seed=draws)
        seconds = time.process_time() - begin
        assert (run.delays == world.table[range(steps), run.arms]).all()
        return Drive(run.arms.tolist(), float(run.regret[-1]), seconds)

    def count_policies(self) -> int:
        """Those of the registry."""
        return len(tarry.POLICIES)

    def contextual(
        self, arms: int, seed: int, setting: Setting | None = None
    ) -> "AskedWithContext":
        """An agent with features."""
        told = setting or self.documented
        policy = tarry.SurvivalRegression(half_life=told.get("half_life"))
        return AskedWithContext(policy, arms, told["max_delay"], seed, told["payoff"])

    def grow(self, learner: Asked) -> None:
        """`add_arm`."""
        number = len(learner.numbers)
        learner.numbers[str(number)] = number
        learner.agent.add_arm(str(number))

    def pending(self, learner: Asked) -> int:
        """The agent counts them."""
        return int(learner.agent.counts.pending)

    def copy(self, learner: Asked) -> Asked:
        """Close the agent, copy its journal, and open both."""
        assert learner.path is not None
        learner.agent.close()
        twin = Asked(learner.policy, len(learner.names), learner.max_delay, 0)
        twin.folder = tempfile.TemporaryDirectory()
        twin.path = Path(twin.folder.name) / "copy.db"
        shutil.copy(learner.path, twin.path)
        twin.clock.time = learner.clock.time
        twin.begin, twin.last, twin.ids = learner.begin, learner.last, dict(learner.ids)
        learner.agent = learner.open(learner.path)
        twin.agent = twin.open(twin.path)
        return twin


ADAPTER = Tarry()
