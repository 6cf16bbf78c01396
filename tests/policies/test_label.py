"""Labels and code fingerprints: what tells one policy, or one version of it, from another."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import tarry
from tarry.policies.label import policy_label, setting_text
from tarry.policies.own_code import code_fingerprint, digest_of


@dataclass(frozen=True)
class Weighted:
    """A policy of a user with an array among its settings."""

    weights: np.ndarray[Any, Any] = field(default_factory=lambda: np.ones(3))
    power: float = 1.0
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    needs_horizon: ClassVar[bool] = False

    def start(self, setting: tarry.Setting) -> Any:
        """The rule of another policy; what matters here is how this one is called."""
        return tarry.Uniform().start(setting)


class Plain:
    """A policy of a user that is no dataclass."""

    def __init__(self, power: float, weights: Any = None) -> None:
        self.power = power
        self._weights = weights

    def start(self, setting: tarry.Setting) -> Any:
        """As above."""
        return tarry.Uniform().start(setting)


class Slotted:
    """Settings without a dictionary."""

    __slots__ = ("power",)

    def __init__(self, power: float) -> None:
        self.power = power


@pytest.mark.parametrize(
    ("policy", "label"),
    [
        (tarry.BDSE(), "BDSE"),
        (tarry.BDSE(keep_history=True), "BDSE(keep_history=True)"),
        (Weighted(), "Weighted"),
        (Weighted(np.ones(3), 2.0), "Weighted(power=2.0)"),
        (Weighted(np.array([1, 2])), "Weighted(weights=array([1, 2]))"),
        (Plain(2.0), "Plain(power=2.0, _weights=None)"),
        (Plain(0.5, [1, (2,)]), "Plain(power=0.5, _weights=[1, (2,)])"),
        (Plain(0.5, {"a": np.float64(2.0)}), "Plain(power=0.5, _weights={'a': 2.0})"),
        (Plain(0.5, Weighted(power=3.0)), "Plain(power=0.5, _weights=Weighted(power=3.0))"),
        (Slotted(2.0), "Slotted(power=2.0)"),
    ],
)
def test_label_tells_the_settings_that_are_not_the_default(policy: Any, label: str) -> None:
    """Fields of a dataclass, attributes of any other class, arrays by their elements."""
    assert policy_label(policy) == label


def test_long_arrays_are_told_apart_in_few_words() -> None:
    """The label of a large array is short, and another one for other elements."""
    one, other = np.zeros((40, 30)), np.zeros((40, 30))
    other[3, 7] = 1e-9
    assert len(setting_text(one)) < 30
    assert setting_text(one).startswith("array(40 x 30, ")
    assert setting_text(one) == setting_text(np.zeros((40, 30)))
    assert setting_text(one) != setting_text(other)


def test_settings_that_cannot_be_compared_are_compared_by_content() -> None:
    """A list of arrays has no truth of its own."""

    @dataclass
    class Nested:
        parts: list[Any] = field(default_factory=lambda: [np.zeros(2), np.ones(2)])

    assert policy_label(Nested()) == "Nested"
    assert policy_label(Nested([np.ones(2), np.ones(2)])) != "Nested"


def test_policy_with_an_array_plays_compares_and_lives(tmp_path: Path) -> None:
    """Nothing asks an array whether it is true."""
    problem = tarry.problems.deterministic([1, 4], max_delay=4)
    policy = Weighted(np.array([1, 2]))
    run = tarry.play(policy, problem, payoff="cost", horizon=50)
    assert "Weighted(weights=array([1, 2]))" in repr(run)
    both = [Weighted(np.arange(90)), Weighted(np.arange(91))]
    result = tarry.compare(
        both, problems=problem, payoff="cost", horizon=50, runs=1, folder=tmp_path, progress=False
    )
    assert tarry.load(tmp_path) == result
    with tarry.Agent(policy, arms=["a", "b"], payoff="cost", max_delay=1.0) as agent:
        agent.ask()
        assert "Weighted(weights=array([1, 2]))" in repr(agent)


def test_own_policies_have_no_code_of_a_user() -> None:
    """The fingerprint of tarry's sources speaks for its policies."""
    assert [code_fingerprint(cls) for cls in (tarry.BDSE(), tarry.SE(), tarry.Uniform())] == [
        ""
    ] * 3


MODULE = """
import functools
from typing import NamedTuple

import numpy as np

import tables

TABLE = np.arange({size})
arms = {unread}
look = {unread}

def helper(step):
    {comment}
    return step + {constant}

@functools.lru_cache
def kept(step):
    return {kept} * step

class Rule(NamedTuple):
    arms: int

    def select(self, ledger, step, now, rng):
        "{doc}"
        if step in {{"a", "b", "c"}}:
            return {inner}
        return (helper(kept(step)) + tables.look(step) + len(TABLE)) % self.arms

class Base:
    bonus = {bonus}

class Policy(Base):
    def start(self, setting):
        return Rule(setting.arms)
"""
USUAL = {
    "size": 9,
    "comment": "pass",
    "constant": 1,
    "kept": 1,
    "doc": "Choose.",
    "inner": 0,
    "bonus": 1,
    "look": 1,
    "unread": 1,
}


TOLD = """
import sys
from tarry.policies.own_code import code_fingerprint
sys.dont_write_bytecode = True
for place in sys.argv[1:]:
    sys.path.insert(0, place)
    import mine
    print(code_fingerprint(mine.Policy()))
    del sys.path[0], sys.modules["mine"], sys.modules["tables"], mine
"""


@pytest.fixture
def fingerprints(tmp_path: Path) -> Callable[..., list[str]]:
    """What a fresh process says of the policy above, written with some words changed each time."""

    def told(*changes: dict[str, Any]) -> list[str]:
        places = []
        for number, changed in enumerate(changes):
            words = {**USUAL, **changed}
            place = tmp_path / str(number)
            place.mkdir(exist_ok=True)
            (place / "mine.py").write_text(MODULE.format(**words))
            (place / "tables.py").write_text(f"def look(step):\n    return {words['look']}\n")
            places.append(str(place))
        command = [sys.executable, "-c", TOLD, *places]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    return told


def test_code_is_the_same_in_every_process(fingerprints: Callable[..., list[str]]) -> None:
    """Neither addresses nor comments nor docstrings nor the order of a set are in it."""
    usual = fingerprints({})
    assert [len(code) for code in usual] == [12]
    assert fingerprints({}) == usual
    assert fingerprints({"comment": "# why\n\n    pass", "doc": "Choose well."}) == usual


def test_code_follows_every_change(fingerprints: Callable[..., list[str]]) -> None:
    """The rule, what it calls, in other modules too, base classes and data all count."""
    parts = ("size", "constant", "kept", "inner", "bonus", "look")
    codes = fingerprints({}, *({part: 5} for part in parts), {})
    assert codes[0] == codes[-1]
    assert len(set(codes)) == 1 + len(parts)


def test_attributes_are_no_globals(fingerprints: Callable[..., list[str]]) -> None:
    """A global with the name of an attribute or of a helper in a module is not what is read."""
    changed, usual = fingerprints({"unread": 5}, {})
    assert changed == usual


def test_anything_has_a_digest() -> None:
    """Cycles, functions with closures, objects of others and what cannot be pickled are read."""
    loop: list[Any] = [1]
    loop.append(loop)
    assert digest_of(loop) == digest_of(loop)

    def make(number: int) -> Callable[[], int]:
        return lambda: number

    assert digest_of(make(1)) == digest_of(make(1))
    assert digest_of(make(1)) != digest_of(make(2))
    assert digest_of(make(1).__code__) == digest_of(make(2).__code__)
    assert digest_of(np.random.default_rng(1)) != digest_of(np.random.default_rng(2))
    assert digest_of({1, 2}) == digest_of({2, 1})
    assert digest_of(np.array([None, "a"], object)) != digest_of(np.array([None, "b"], object))
    assert digest_of(Plain(1.0).start) != digest_of(Plain(2.0).start)
    assert digest_of(sys.stdout) == digest_of(sys.stdout)
    assert digest_of(np.median) != digest_of(np.mean)
