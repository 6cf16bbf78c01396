"""What `play` refuses: each in one sentence, by an exception of our own, before any step."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import tarry
from tarry.errors import InputError, PayoffError, PolicyError, TarryError, UnknownNameError

PROBLEM = tarry.problems.deterministic([1, 4], max_delay=4)
SHORT = tarry.problems.replay([[1, 2], [0, 3]], max_delay=4)
play: Any = partial(tarry.play, payoff="cost", horizon=10)


class WithoutStart:
    """Lacks the method that makes it a policy."""


class WithoutSelect:
    """Starts a rule that cannot choose."""

    def start(self, setting: tarry.Setting) -> object:
        """Nothing that chooses."""
        return object()


class StartsAlone:
    """Its `start` takes no setting."""

    def start(self) -> None:
        """Too few parameters."""


class Chooser:
    """Chooses what it is told to, whatever that is."""

    def __init__(self, choice: Any) -> None:
        self.choice = choice

    def start(self, setting: tarry.Setting) -> Any:
        """Itself."""
        return self

    def select(self, ledger: Any, plays: Any, row: int, now: int, rng: Any) -> Any:
        """Always the same."""
        return self.choice


class Forgetful(Chooser):
    """Its `select` does not take what it is given."""

    def select(self, ledger: Any) -> int:  # type: ignore[override]  # the mistake under test
        """Too few parameters."""
        return 0


class Edgy(Chooser):
    """Wants to hear of plays older than D."""

    edges = (2, 5)


def refused(error: type[TarryError], words: list[str], *arguments: Any, **settings: Any) -> None:
    """`play` refuses these arguments in one sentence that has these words."""
    with pytest.raises(error) as caught:
        play(*arguments, **settings)
    message = str(caught.value)
    assert isinstance(caught.value, TarryError)
    assert message.endswith(".")
    assert "\n" not in message
    assert [word for word in words if word not in message] == []


@pytest.mark.parametrize("horizon", [0, -1, 1.5, float("nan"), float("inf"), "10", None, True])
def test_horizon_is_a_positive_whole_number(horizon: Any) -> None:
    """The message has the value and the range."""
    refused(InputError, ["horizon", repr(horizon), "from 1"], tarry.SE(), PROBLEM, horizon=horizon)


def test_whole_float_is_a_horizon() -> None:
    """1e3 is a whole number, however it is written."""
    assert play(tarry.SE(), PROBLEM, horizon=1e3).horizon == 1000


def test_table_is_as_long_as_the_horizon() -> None:
    """A table of 2 rows cannot be played for 3 steps."""
    refused(InputError, ["2 rows", "3", "at most 2"], tarry.SE(), SHORT, horizon=3)


@pytest.mark.parametrize("payoff", ["gain", "Cost", "", None, 1, ["cost"]])
def test_payoff_is_cost_or_reward(payoff: Any) -> None:
    """The message has the value and both words."""
    refused(PayoffError, [repr(payoff), "'cost'", "'reward'"], tarry.SE(), PROBLEM, payoff=payoff)


@pytest.mark.parametrize("seed", [-1, 0.5, None, 2**64, "1"])
def test_seed_is_a_64_bit_number(seed: Any) -> None:
    """The message has the value and the range."""
    refused(InputError, ["seed", repr(seed)], tarry.SE(), PROBLEM, seed=seed)


@pytest.mark.parametrize("record", [0, -3, 1.5, "all", float("nan")])
def test_record_as_a_number_is_positive(record: Any) -> None:
    """A number of steps to keep is a positive whole number."""
    refused(InputError, ["record", repr(record), "from 1"], tarry.SE(), PROBLEM, record=record)


@pytest.mark.parametrize(
    "record", [[], [1.5], [np.nan], [np.inf], ["a"], [[1], [2]], [[1, 2], [3]], [2**70], [None]]
)
def test_record_as_a_list_has_whole_steps(record: Any) -> None:
    """A list of steps to keep is a flat list of whole numbers, and not empty."""
    refused(InputError, ["record", "list of steps"], tarry.SE(), PROBLEM, record=record)


@pytest.mark.parametrize("record", [[0], [11], [2, 1], [1, 1], np.array([-1, 3])])
def test_record_as_a_list_increases_within_the_horizon(record: Any) -> None:
    """The steps of a list increase and lie in 1..horizon."""
    refused(InputError, ["record", "increase", "from 1 to 10"], tarry.SE(), PROBLEM, record=record)


def test_full_record_of_a_long_run_is_refused() -> None:
    """Ten to the ninth steps are not kept in memory by accident; the message says what to do."""
    refused(InputError, ["GiB", "record=1000"], tarry.SE(), PROBLEM, horizon=10**9)


def test_mode_is_one_of_three() -> None:
    """The message has the three words."""
    words = ["'fast'", '"auto"', '"compiled"', '"interpreted"']
    refused(InputError, words, tarry.SE(), PROBLEM, mode="fast")


@pytest.mark.parametrize("problem", ["cdn", None, [[1, 2]]])
def test_problem_is_a_problem(problem: Any) -> None:
    """Something else in its place is named by its type."""
    refused(InputError, [type(problem).__name__, "tarry.problems"], tarry.SE(), problem)


def test_policy_is_no_class() -> None:
    """A class in place of a policy is told apart from other mistakes."""
    refused(PolicyError, ["SE is a class", "SE(...)"], tarry.SE, PROBLEM)


def test_policy_is_no_name() -> None:
    """A name in place of a policy is told how to become one."""
    refused(PolicyError, ["'SE'", "by_name('SE')()"], "SE", PROBLEM)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (WithoutStart(), ["WithoutStart", "start(setting)"]),
        (WithoutSelect(), ["WithoutSelect", "select(ledger, plays, row, now, rng)"]),
        (StartsAlone(), ["StartsAlone.start", "(setting)"]),
        (Forgetful(0), ["Forgetful.select", "(ledger, plays, row, now, rng)"]),
        (Edgy(0), ["Edgy", "age 5", "from 1 to the max_delay 4"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_policy_has_the_methods_it_needs(policy: Any, words: list[str]) -> None:
    """A missing method, or one with other parameters, is named with what it must take."""
    refused(PolicyError, words, policy, PROBLEM)


@pytest.mark.filterwarnings("ignore::tarry.InterpretedWarning")
@pytest.mark.parametrize("choice", [2, -2, 10**12])
def test_arm_is_in_range(choice: int) -> None:
    """An arm that does not exist is refused with the step and the range."""
    refused(PolicyError, ["Chooser", "0..1", "step 1"], Chooser(choice), PROBLEM)


@pytest.mark.filterwarnings("ignore::tarry.InterpretedWarning")
@pytest.mark.parametrize("choice", [0.5, None, "0", True])
def test_arm_is_a_whole_number(choice: Any) -> None:
    """A choice that is no number of an arm is refused with its value and the step."""
    refused(PolicyError, ["Chooser", repr(choice), "step 1"], Chooser(choice), PROBLEM)


@pytest.mark.parametrize(
    ("name", "near"),
    [("BDES", "BDSE"), ("delayeducb1", "DelayedUCB"), ("xyz", "known are"), (3, "SE")],
)
def test_unknown_policy_name_brings_the_nearest(name: Any, near: str) -> None:
    """A name that nobody has is refused with those that come near, or with all."""
    with pytest.raises(UnknownNameError, match=near) as caught:
        tarry.policies.by_name(name)
    assert repr(name) in str(caught.value)


def test_unknown_public_name_is_an_attribute_error() -> None:
    """`tarry` has the names it lists and no others."""
    with pytest.raises(AttributeError, match="nonsense"):
        _ = tarry.nonsense
    assert all(hasattr(tarry, name) for name in dir(tarry))
