"""What is run: policies, problems, runs and seeds, described so that a file can tell it again."""

import hashlib
import importlib.metadata
import inspect
import json
import platform
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

import numpy as np

from tarry._version import __version__
from tarry.arrays import Steps
from tarry.checks import check_payoff, check_whole
from tarry.errors import InputError
from tarry.fingerprint import source_fingerprint
from tarry.policies.check import check_policy
from tarry.policies.label import policy_label, policy_settings, setting_text
from tarry.policies.own_code import code_fingerprint
from tarry.policies.protocol import Policy
from tarry.problems.changing import Changing
from tarry.problems.contextual import Contextual
from tarry.problems.problem import Payoff, Problem
from tarry.problems.recorded import Replay
from tarry.simulation.record import evenly_spaced

FORMAT = "tarry results 3"
Source: TypeAlias = Problem | Callable[[int], Problem]
Policies: TypeAlias = Sequence[Policy] | Mapping[str, Policy]


class Task(NamedTuple):
    """One run of one policy on one problem, by their numbers in the experiment."""

    run: int
    case: int
    policy: int


class Seeds(NamedTuple):
    """The two seeds of a run, the same for every policy and every problem."""

    problem: int  # 32 bits: draws the instance, where instances are drawn
    play: int  # 64 bits: the delays and the policy's own randomness


def seeds_of_run(seed: int, run: int) -> Seeds:
    """The seeds of run number `run`, whatever the number of runs or of workers is."""
    words = np.random.SeedSequence(seed, spawn_key=(run,)).generate_state(2, np.uint64)
    return Seeds(int(words[0]) & 0xFFFFFFFF, int(words[1]))


@dataclass(frozen=True)
class Case:
    """A problem of the experiment: one world for all runs, or a function that draws one for each.

    Args:
        name: how results, tables and figures call it.
        source: a `Problem`, or a function from a seed to a `Problem`.
        horizon: T.
        points: how many evenly spaced steps are recorded.
        about: what figures and verdicts need to know of the problem, ready for JSON.
    """

    name: str
    source: Source
    horizon: int
    points: int = 200
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        horizon = check_whole("horizon", self.horizon, 1, 2**62)
        points = check_whole("number of recorded steps", self.points, 1, 1_000_000)
        object.__setattr__(self, "horizon", horizon)  # 1e6 becomes 1000000
        object.__setattr__(self, "points", points)

    @cached_property
    def steps(self) -> Steps:
        """The recorded steps; the horizon is the last of them."""
        return evenly_spaced(self.points, self.horizon)

    @cached_property
    def drawn(self) -> MutableMapping[int, Problem]:
        """What was drawn and is still in use, by seed: a large world takes long to draw."""
        return WeakValueDictionary()

    def draw(self, seed: int) -> Problem:
        """The world of a run whose problem seed is `seed`."""
        problem = self.drawn.get(seed)
        if problem is None:
            problem = self.drawn[seed] = self._made(seed)
        limit = problem.horizon_limit
        if limit is not None and self.horizon > limit:
            raise InputError(
                f"The problem {self.name!r} replays {limit} rows, but the horizon is "
                f"{self.horizon}; play at most {limit} steps."
            )
        return problem

    def _made(self, seed: int) -> Problem:
        source: Any = self.source
        problem = source
        if callable(source) and not isinstance(source, Problem):
            problem = source(seed=seed) if _has_seed(source) else source(seed)
        if not isinstance(problem, Problem):
            raise InputError(
                f"The problem {self.name!r} is a {type(problem).__name__}; "
                f"give a Problem, or a function from a seed to a Problem."
            )
        return problem


def _has_seed(source: Any) -> bool:
    """Whether a function calls its seed so; a family such as `problems.dwell` has more settings."""
    try:
        return "seed" in inspect.signature(source).parameters
    except (TypeError, ValueError):
        return False


@dataclass(frozen=True)
class Experiment:
    """Policies x problems x runs with one payoff; equal experiments give equal results.

    Args:
        policies: by label.
        cases: the problems, with different names.
        payoff: "cost" or "reward".
        runs: how often each policy plays each problem.
        seed: everything random follows from it.
    """

    policies: Mapping[str, Policy]
    cases: Sequence[Case]
    payoff: Payoff
    runs: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        check_payoff(self.payoff)
        runs = check_whole("number of runs", self.runs, 1, 10_000_000)
        seed = check_whole("seed", self.seed, 0, 2**64 - 1)
        object.__setattr__(self, "runs", runs)
        object.__setattr__(self, "seed", seed)
        if not self.policies or not self.cases:
            raise InputError("An experiment needs at least one policy and one problem.")
        for policy in self.policies.values():
            check_policy(policy, self.payoff)
        names = [case.name for case in self.cases]
        if len(set(names)) < len(names):
            raise InputError(f"Two problems have the same name; the names are {names}.")

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the policies."""
        return tuple(self.policies)

    def tasks(self) -> Iterator[Task]:
        """All runs, run by run, so that a world is drawn once for all policies that play it."""
        for run in range(self.runs):
            for case in range(len(self.cases)):
                for policy in range(len(self.policies)):
                    yield Task(run, case, policy)

    @property
    def size(self) -> int:
        """How many tasks there are."""
        return self.runs * len(self.cases) * len(self.policies)

    @cached_property
    def description(self) -> dict[str, Any]:
        """Everything that decides the results, and the versions that made them, ready for JSON."""
        first = seeds_of_run(self.seed, 0).problem
        return {
            "format": FORMAT,
            "payoff": self.payoff,
            "runs": self.runs,
            "seed": self.seed,
            "policies": [describe_policy(*item) for item in self.policies.items()],
            "problems": [describe_case(case, first) for case in self.cases],
            "versions": versions(),
        }

    @cached_property
    def key(self) -> str:
        """What tells this experiment from others; more runs are no other one."""
        return key_of(self.description)


def by_label(policies: Any) -> dict[str, Policy]:
    """Policies by label; a list is labelled with names and settings, which must differ."""
    if isinstance(policies, Mapping):
        return dict(policies)
    if not isinstance(policies, Sequence) or isinstance(policies, str):
        raise InputError(
            f"policies is {policies!r}; give a list of policies, or a dict with a label for each."
        )
    found: dict[str, Policy] = {}
    for policy in policies:
        label = policy.__name__ if isinstance(policy, type) else policy_label(policy)
        if label in found:
            raise InputError(
                f"{label} is given twice; give a dict with a different label for each policy."
            )
        found[label] = policy
    return found


def describe_policy(label: str, policy: Any) -> dict[str, Any]:
    """A policy's label, class and settings, and what tells one version of its code from another."""
    settings = {name: as_json(value) for name, value in policy_settings(policy).items()}
    code = code_fingerprint(policy)
    return {"label": label, "name": type(policy).__name__, "settings": settings, "code": code}


def describe_case(case: Case, seed: int) -> dict[str, Any]:
    """A problem of the experiment, by what is drawn for the first run."""
    problem = case.draw(seed)
    changes = problem.changes.tolist()
    return {
        **({"changes": changes} if changes else {}),
        "name": case.name,
        "about": dict(case.about),
        "redrawn": not isinstance(case.source, Problem),
        "first": problem.label,
        "first_digest": problem_digest(problem),
        "arms": problem.arms,
        "max_delay": problem.max_delay,
        "horizon": case.horizon,
        "steps": case.steps.tolist(),
    }


def problem_digest(problem: Problem) -> str:
    """A fingerprint of everything that decides the delays of a problem."""
    content = hashlib.sha256(f"{problem.max_delay} {problem.horizon_limit}".encode())
    laws = problem.laws
    if isinstance(problem, Contextual):
        laws = problem.context_laws
    if isinstance(problem, Changing):
        laws = problem.block_laws
        content.update(problem.plan.tobytes() + problem.caught.tobytes())
    for law in laws:
        content.update(law.values.tobytes())
        content.update(law.probabilities.tobytes())
    if isinstance(problem, Replay):
        content.update(problem.table.tobytes())
    if isinstance(problem, Contextual):
        content.update(problem.features.tobytes() + problem.weights.tobytes())
    return content.hexdigest()[:16]


def key_of(description: Mapping[str, Any]) -> str:
    """The fingerprint of a description; of the versions only our own code matters.

    The number of runs does not: run r is the same in any number of them.
    """
    told = {**description, "versions": description["versions"]["code"], "runs": None}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]


def versions() -> dict[str, str]:
    """The versions of what computes the results."""
    packages = {name: importlib.metadata.version(name) for name in ("numpy", "scipy", "numba")}
    ours = {"tarry": __version__, "code": source_fingerprint()}
    return {**ours, "python": platform.python_version(), **packages}


def as_json(value: Any) -> Any:
    """A setting as JSON can hold it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return setting_text(value)
