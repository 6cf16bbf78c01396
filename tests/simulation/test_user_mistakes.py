"""Rules of a user's own that go outside their arrays: an error with the line, in every mode."""

import math
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

import tarry
from tarry.arrays import FloatArray
from tarry.compiled import machine
from tarry.errors import PolicyError
from tarry.ledger import Ledger
from tarry.policies import Setting

PROBLEM = tarry.problems.bernoulli(arms=4, max_delay=12, seed=6)
T = 3000
LATE = 1777  # a step in the middle of a piece of the run
MISTAKES = ["no mistake", "read", "negative", "write", "ledger", "helper"]


def value_at(values: FloatArray, place: int) -> float:
    """A helper that reads where it is told to."""
    return values[place]  # helper


class Wild(NamedTuple):
    """Goes outside an array at a late step, in one of several ways."""

    kind: int
    values: FloatArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """Any arm, and the mistake."""
        arm = int(rng.random() * 4)
        size = len(self.values)
        if plays.number[row] < LATE:
            return arm
        if self.kind == 1:
            return arm + int(self.values[size])  # read
        if self.kind == 2:
            return arm + int(self.values[-size - 1])  # negative
        if self.kind == 3:
            self.values[size + 5] = 1.0  # write
        if self.kind == 4:
            return arm + 0 * ledger.missing(-5)  # ledger
        if self.kind == 5:
            return arm + int(value_at(self.values, 10**6))
        return arm


class WildPolicy:
    """Starts the rule with one of its mistakes."""

    def __init__(self, mistake: str) -> None:
        self.kind = MISTAKES.index(mistake)

    def start(self, setting: Setting) -> Wild:
        """The rule."""
        return Wild(self.kind, np.zeros(setting.arms))


def play(policy: Any, mode: Any) -> tarry.Run:
    """A run."""
    return tarry.play(policy, PROBLEM, payoff="cost", horizon=T, mode=mode, record=10)


@pytest.mark.parametrize("mistake", MISTAKES[1:])
def test_going_outside_an_array_is_an_error_with_its_line(mistake: str) -> None:
    """Reads, writes, negative indices, by way of the ledger or a helper: always the same error."""
    with open(__file__) as source:  # noqa: PTH123  # one line
        lines = source.read().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.endswith(f"  # {mistake}"))
    for mode in ("compiled", "interpreted"):
        with pytest.raises(
            PolicyError, match=r"WildPolicy\(kind=\d\) goes outside an array: "
        ) as caught:
            play(WildPolicy(mistake), mode)
        assert f"{__file__}, line {line}: {lines[line - 1].strip()}" in str(caught.value)
        assert "out of bounds" in str(caught.value)


def test_checks_change_no_run() -> None:
    """A rule that stays within its arrays plays the same arms with and without a compiler."""
    runs = [play(WildPolicy("no mistake"), mode) for mode in ("compiled", "interpreted")]
    assert np.array_equal(runs[0].arms, runs[1].arms)


class Flat(NamedTuple):
    """Uses what Numba never checks."""

    values: FloatArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """Within the array."""
        return int(self.values.flat[0])


class Cleared:
    """Starts any rule."""

    def __init__(self, rule: Any) -> None:
        self.rule = rule

    def start(self, setting: Setting) -> Any:
        """The rule."""
        return self.rule


class Curious(NamedTuple):
    """Asks an array what it has."""

    values: FloatArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """Arm 1, if arrays can be made into lists."""
        return 1 if hasattr(self.values, "tolist") else 0


def test_what_compiled_code_knows_less_of_is_interpreted() -> None:
    """Of arrays and numbers Numba does not know all that Python knows."""
    with pytest.warns(tarry.InterpretedWarning, match="hasattr is asked of a value of type array"):
        run = play(Cleared(Curious(np.zeros(3))), "auto")
    assert set(run.arms.tolist()) == {1}


def test_what_cannot_be_checked_is_interpreted() -> None:
    """Compiled code does not check the indices of `.flat`, so a rule with it is interpreted."""
    with pytest.warns(tarry.InterpretedWarning, match=r"Flat.select uses \.flat"):
        run = play(Cleared(Flat(np.zeros(3))), "auto")
    assert run.mode == "interpreted"


@pytest.mark.parametrize("error", [TypeError, AssertionError, KeyError])
def test_whatever_the_compiler_raises_is_a_reason(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception from inside Numba leaves a user's rule interpreted, with the exception told."""

    class Fresh(NamedTuple):
        arms: int

        def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
            return int(plays.number[row]) % self.arms

    def broken(rule: Any) -> None:
        raise error("deep inside")

    monkeypatch.setattr(machine, "admit_value", broken)
    with pytest.warns(tarry.InterpretedWarning, match=f"{error.__name__}.*deep inside"):
        run = play(Cleared(Fresh(4)), "auto")
    assert run.mode == "interpreted"
    with pytest.raises(error, match="deep inside"):
        play(tarry.SE(), "auto")


STEADY = 0  # a constant that a rule reads


class Reader(NamedTuple):
    """Plays the arm that a constant of its module names."""

    arms: int

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """The constant."""
        return STEADY


def test_machine_code_of_a_changed_constant_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A constant changed after compiling: the new one counts, and a warning says what happened."""
    module = sys.modules[__name__]
    assert set(play(Cleared(Reader(4)), "auto").arms.tolist()) == {0}
    monkeypatch.setattr(module, "STEADY", 2)
    with pytest.warns(tarry.InterpretedWarning, match="Reader uses has changed since"):
        assert set(play(Cleared(Reader(4)), "auto").arms.tolist()) == {2}
    monkeypatch.setattr(module, "STEADY", 0)
    assert play(Cleared(Reader(4)), "auto").mode == "compiled"


class Deaf(NamedTuple):
    """Wants to hear of ages, and does not say of which."""

    heard: FloatArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """The first arm."""
        return 0

    def outlived(self, plays: Any, row: int, edge: int, now: int) -> None:
        """Never called."""
        self.heard[0] += 1


class Jumping(NamedTuple):
    """Counts many failed phases at once."""

    phase: FloatArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """The first arm."""
        if now == 20:
            self.phase[1] += 5000
        return 0


class Asking(NamedTuple):
    """Has fields that mean something else."""

    edges: Any = ()

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """The first arm."""
        return 0


class Switched(Asking):
    """Would switch a hook off."""

    __slots__ = ()
    returned = None


class Vague(NamedTuple):
    """Has a phase that is none."""

    phase: Any

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """The first arm."""
        return 0


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        *((Asking(x), r"Asking\.edges is .*; a field of this name") for x in (3, None, [[1], [2]])),
        (Switched(), "Switched.returned is a NoneType, but a rule is called by this name"),
        (Vague(None), "Vague.phase is None; a field of this name"),
        (Vague(np.zeros((2, 2), np.int64)), r"Vague\.phase is array.*; a field of this name"),
        (Deaf(np.zeros(1)), "Deaf has outlived, but no field edges"),
        (Flat(np.zeros(3, np.float32)), "Flat.values is an array of float32"),
        (Flat(np.zeros(3, bool)), "Flat.values is an array of bool"),
        (Jumping(np.zeros(2, np.int64)), "more than 64 failed phases at step"),
    ],
    ids=[
        *("a number", "nothing", "a table", "no hook", "no phase", "a table of phases"),
        *("edges", "float32", "bool", "phase"),
    ],
)
def test_what_would_go_wrong_in_silence_is_refused(rule: Any, words: str) -> None:
    """In one sentence, compiled and interpreted."""
    for mode in ("compiled", "interpreted"):
        with pytest.raises(PolicyError, match=words):
            play(Cleared(rule), mode)


class Hopeful(NamedTuple):
    """Forgets the prior of its beta law."""

    wins: FloatArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """A draw that cannot be made."""
        return int(rng.beta(self.wins[0], self.wins[1]) > 0.5)


@pytest.mark.parametrize("mode", ["compiled", "interpreted"])
def test_a_draw_that_cannot_be_made_is_an_error(mode: str) -> None:
    """A beta law without mass does not make the run wait for ever."""
    with pytest.raises(ValueError, match=r"rng\.beta needs two shapes above 0"):
        play(Cleared(Hopeful(np.zeros(2))), mode)


ENDS = ["1 / 0", "log(0)", "sqrt(-1)", "int(nan)", "beyond 64 bits", "negative power"]
STOPS = ENDS[:4]  # those at which Python does


class Endless(NamedTuple):
    """Goes where numbers end, in one of several ways."""

    kind: int
    zero: int
    large: int

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Any) -> int:
        """An arm by which one can tell."""
        value = 1.0
        if self.kind == 0:
            value = 1 / self.zero
        elif self.kind == 1:
            value = math.log(self.zero)
        elif self.kind == 2:
            value = math.sqrt(self.zero - 1)
        elif self.kind == 3:
            value = int(math.nan * self.large)
        elif self.kind == 4:
            value = self.large * 4
        elif self.kind == 5:
            value = (self.zero + 2) ** (self.zero - 1)
        return 1 if value > 0 else 0


@pytest.mark.parametrize("end", ENDS)
def test_where_numbers_end_machine_code_goes_on(end: str) -> None:
    """What the tutorial says of the differences between the modes."""
    policy = Cleared(Endless(ENDS.index(end), 0, 2**61 + 2**60))
    arms = play(policy, "compiled").arms.tolist()
    assert len(arms) == 10
    if end in STOPS:
        with pytest.raises((ZeroDivisionError, ValueError)):
            play(policy, "interpreted")
    else:
        assert play(policy, "interpreted").arms.tolist() != arms
