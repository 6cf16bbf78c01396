"""Policies of a user's own: compiled where that is possible, else interpreted with the reason."""

import importlib
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import tarry
from tarry.arrays import FloatArray, IntArray
from tarry.errors import PolicyError
from tarry.ledger import Ledger
from tarry.policies import Setting

PROBLEM = tarry.problems.bernoulli(arms=4, max_delay=12, seed=6)
T = 1500
Rng = Any


@dataclass
class Started:
    """A policy whose rule is made by a function of the setting."""

    rule: Any

    def start(self, setting: Setting) -> Any:
        """The rule."""
        return self.rule(setting)


def play(rule: Any, **settings: Any) -> tarry.Run:
    """A run of the policy with this rule."""
    policy: Any = Started(rule)
    return tarry.play(policy, PROBLEM, **{"payoff": "cost", "horizon": T, **settings})


def smallest(values: FloatArray) -> int:
    """A helper that a rule calls."""
    return int(np.argmin(values))


def scaled_root(step: int) -> float:
    """A helper that a helper calls."""
    return float(np.sqrt(2.0 * np.log(step)))


def lower_bounds(sums: FloatArray, counts: FloatArray, step: int) -> FloatArray:
    """A helper that makes an array."""
    safe = np.maximum(counts, 1.0)
    return sums / safe - scaled_root(step) / np.sqrt(safe)


class Arrays(NamedTuple):
    """Written the way NumPy is usually written, with arrays made at every step."""

    sums: FloatArray
    counts: FloatArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Rng) -> int:
        """The lowest bound, or any arm now and then."""
        if rng.random() < 0.1:
            return int(rng.random() * len(self.sums))
        return smallest(self._bounds(plays.number[row]))

    def _bounds(self, step: int) -> FloatArray:
        """A method of its own, with a private name."""
        return lower_bounds(self.sums, self.counts, step)

    def returned(self, plays: Any, row: int, now: int, rng: Rng) -> None:
        """Learn."""
        arm = plays.arm[row]
        self.sums[arm] += plays.delay[row]
        self.counts[arm] += 1.0


def arrays(setting: Setting) -> Arrays:
    """The rule at its start."""
    return Arrays(np.zeros(setting.arms), np.zeros(setting.arms))


class Wrapped(NamedTuple):
    """A rule of ours inside a rule of the user's."""

    inner: Any
    share: float

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Rng) -> int:
        """What the inner rule says, mostly."""
        arm = self.inner.select(ledger, plays, row, now, rng)
        return 0 if rng.random() < self.share else arm


class Watcher(NamedTuple):
    """Counts what it is told about plays still out."""

    edges: IntArray
    crossed: IntArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Rng) -> int:
        """Each arm in turn."""
        return int(plays.number[row]) % len(ledger.plays)

    def outlived(self, plays: Any, row: int, edge: int, now: int) -> None:
        """A play reached an age."""
        self.crossed[edge] += 1


class Restless(NamedTuple):
    """Begins a new phase at every step but the first."""

    phase: IntArray

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Rng) -> int:
        """The first arm, after a restart."""
        if plays.number[row] > 1:
            self.phase[0] = plays.number[row]
            self.phase[1] += 1
        return 0


class Plain:
    """An ordinary class with an ordinary dict."""

    def __init__(self, setting: Setting) -> None:
        self.last: dict[int, int] = {}

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Rng) -> int:
        """The arm played least recently."""
        arm = min(range(len(ledger.plays)), key=lambda k: self.last.get(k, 0))
        self.last[arm] = plays.number[row]
        return arm


class Texts(NamedTuple):
    """Has a field that is no number."""

    labels: dict[str, int]

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Rng) -> int:
        """Always the same."""
        return self.labels["first"]


class Clever(NamedTuple):
    """Uses what the compiler does not know."""

    arms: int

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Rng) -> int:
        """An arm by a detour."""
        return int(f"{plays.number[row]}") % self.arms


class Lottery(NamedTuple):
    """Reckons with random bits."""

    arms: int

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Rng) -> int:
        """Remainders, quotients, comparisons, shifts and shares of words."""
        chosen = rng.word() % 3 + rng.word() // 2**61 + int(rng.word() > 2**62)
        chosen += (rng.word() >> 3) + now - int(4 * (rng.word() / 2**63))
        return int(chosen % self.arms)


class Renamed(NamedTuple):
    """Has other names for the parameters."""

    arms: int

    def select(self, book: Ledger, t: Any, line: int, time: int, rng: Rng) -> int:
        """In turn."""
        return self.row_of(t.number[line], self.arms)

    def row_of(self, count: int, arms: int) -> int:
        """Another name than the table of plays has for what its method takes."""
        return int(count) % arms


def test_array_expressions_run_compiled() -> None:
    """Rules that make arrays, call helpers and private methods compile, to the same arms."""
    run = play(arrays)
    assert (run.mode, run.why) == ("compiled", "")
    assert np.array_equal(run.arms, play(arrays, mode="interpreted").arms)


def test_random_bits_are_the_same_numbers_compiled() -> None:
    """Words are numbers like others in a rule: arithmetic with them gives the same in all modes."""
    run = play(lambda setting: Lottery(setting.arms), mode="compiled")
    assert len(run.arms) == T
    assert np.bincount(run.arms, minlength=4).min() > T / 4 - 4 * (T * 3 / 16) ** 0.5
    again = play(lambda setting: Lottery(setting.arms), mode="interpreted")
    assert np.array_equal(run.arms, again.arms)


def test_parameters_may_have_other_names() -> None:
    """A rule compiles whatever others call the parameters of methods with the same names."""
    run = play(lambda setting: Renamed(setting.arms))
    assert run.mode == "compiled"
    assert run.arms[:5].tolist() == [1, 2, 3, 0, 1]


def test_arrays_made_by_a_rule_are_freed() -> None:
    """However many arrays a user's rule makes, none of them is left when the run ends."""
    runtime: Any = importlib.import_module("numba.core.runtime.nrt")
    play(arrays)
    runtime._nrt.memsys_enable_stats()
    before = runtime.rtsys.get_allocation_stats()
    play(arrays, record=1)
    after = runtime.rtsys.get_allocation_stats()
    runtime._nrt.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > T


def test_threads_may_begin_at_once() -> None:
    """Threads that are the first to play a rule, all at the same time, all play it compiled."""
    fresh = partial(play, lambda setting: Watcher(np.array([1, 5, 12]), np.zeros(3, np.int64)))
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda seed: fresh(seed=seed), range(4)))
    assert {run.mode for run in runs} == {"compiled"}


def test_rule_of_ours_inside_another() -> None:
    """A user's rule may hold one of ours and call it."""
    with_se = partial(play, lambda setting: Wrapped(tarry.SE().start(setting), 0.2))
    run = with_se()
    assert run.mode == "compiled"
    assert np.array_equal(run.arms, with_se(mode="interpreted").arms)


@pytest.mark.parametrize("mode", ["compiled", "interpreted"])
def test_edges_are_told(mode: str) -> None:
    """A rule with edges hears of each play that is still out at such an age."""
    crossed = np.zeros(3, np.int64)
    edges = np.array([1, 5, 12])
    run = play(lambda setting: Watcher(edges, crossed), mode=mode)
    expected = [
        int(((run.delays >= age) & (run.steps + age <= T + 1)).sum()) for age in edges.tolist()
    ]
    assert crossed.tolist() == expected


@pytest.mark.parametrize("mode", ["compiled", "interpreted"])
def test_any_number_of_restarts_is_kept(mode: str) -> None:
    """A rule that restarts at every step leaves a restart for every step."""
    run = play(lambda setting: Restless(np.zeros(2, np.int64)), mode=mode)
    assert run.restarts.tolist() == list(range(2, T + 1))


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (Plain, "its rule is a Plain, not a NamedTuple"),
        (lambda setting: Texts({"first": 0}), "rule.labels is a dict, not a number"),
        (lambda setting: Clever(setting.arms), "Numba says"),
    ],
    ids=["plain class", "field", "unknown to the compiler"],
)
def test_what_cannot_be_compiled_is_interpreted_and_says_why(rule: Any, reason: str) -> None:
    """The run is made all the same, and a warning at the caller's line gives the reason."""
    for _ in range(2):
        with pytest.warns(tarry.InterpretedWarning, match="runs interpreted") as caught:
            run = play(rule, horizon=50)
        assert reason in str(caught[0].message)
        assert caught[0].filename == __file__
        assert run.mode == "interpreted"
        assert reason in run.why
        assert len(run.arms) == 50


@pytest.mark.parametrize("rule", [Plain, lambda setting: Clever(setting.arms)], ids=["class", "f"])
def test_insisting_on_compiled_code_is_refused_with_the_reason(rule: Any) -> None:
    """With mode="compiled", a policy that cannot be compiled is an error."""
    with pytest.raises(PolicyError, match=r"Started.* cannot run compiled: .*\.$"):
        play(rule, mode="compiled")


class Weighted(NamedTuple):
    """Compiles with one weight for each arm, and not with one for all."""

    weights: Any
    shares: Any = 0

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Rng) -> int:
        """The same arm in both cases."""
        return int(np.min(np.atleast_1d(self.weights)))


@pytest.mark.parametrize("first", [0, 1], ids=["compiles first", "compiles last"])
def test_whether_a_rule_compiles_is_told_of_its_fields_too(first: int) -> None:
    """A class of rules that compiles with some types of fields says nothing of it with others."""
    shares = (0, 0.0)[first]  # other types, of which nothing is known yet
    rules = [Weighted(np.ones(4), shares), Weighted(1.0, shares)]
    for rule in (rules[first], rules[1 - first]):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run = play(lambda setting, rule=rule: rule, horizon=50)
        assert run.mode == ("compiled" if rule is rules[0] else "interpreted")
        assert [w.category for w in caught] == [tarry.InterpretedWarning] * (rule is rules[1])
        assert set(run.arms.tolist()) == {1}
    with pytest.raises(PolicyError, match=r"cannot run compiled: Numba says [^\n]*\.$"):
        play(lambda setting: rules[1], mode="compiled")


class Silent(NamedTuple):
    """Forgets to return."""

    arms: int

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Rng) -> Any:
        """None."""
        self.arms + 1


class Halved(NamedTuple):
    """Takes a quotient for an arm."""

    arms: int

    def select(self, ledger: Ledger, plays: Any, row: int, now: int, rng: Rng) -> Any:
        """A half."""
        return self.arms / 2


@pytest.mark.parametrize(
    ("rule", "words"), [(Silent, "does not always return an arm"), (Halved, "returns a float64")]
)
def test_a_choice_that_is_no_arm_is_told_in_words(rule: Any, words: str) -> None:
    """Not in those of the compiler."""
    with pytest.raises(PolicyError, match=rf"cannot run compiled: select {words}\."):
        play(lambda setting: rule(setting.arms), mode="compiled")


def test_asking_for_interpreted_runs_brings_no_warning() -> None:
    """Whoever asks for an interpreted run knows why it is one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = play(Plain, mode="interpreted")
    assert run.why == "asked for"
