"""Bad input is refused at the border, in one sentence, by an exception of tarry's tree."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tarry import problems
from tarry.errors import InputError, PayoffError, TarryError, UnknownNameError
from tarry.problems import (
    Law,
    Problem,
    adversary,
    bernoulli,
    by_name,
    deterministic,
    from_distributions,
    from_pmf,
    from_samples,
    hard_close,
    hard_conservative_cost,
    hard_cost,
    hard_reward,
    pareto,
    replay,
    truncated_normal,
)

NAN = float("nan")
TWO = deterministic([1, 2], 4)
TEXT: Any = "ms"
anything: Any = None

CASES: list[tuple[str, Callable[[], object], str]] = [
    ("delay above D", lambda: deterministic([5], 4), "Arm '0': the delay is 5; .* from 0 to 4"),
    ("negative delay", lambda: deterministic([-1], 4), "the delay is -1; .* from 0 to 4"),
    ("fractional delay", lambda: deterministic([1.5], 4), "the delay is 1.5; .* whole"),
    ("NaN delay", lambda: deterministic([NAN], 4), "the delay is nan; .* whole"),
    ("infinite delay", lambda: deterministic([np.inf], 4), "the delay is inf; .* whole"),
    ("huge delay", lambda: deterministic([10**30], 4), "the delay is 1e"),
    ("more starts than tails", lambda: pareto([1.0, 2.0], [1, 2, 3]), "2 tails and 3 starts; give"),
    ("text for starts", lambda: pareto([1.0], "now"), "The starts are 'now'; they must be numbers"),
    ("a tail alone", lambda: pareto(anything), "The tails are None; they must be"),
    ("half a start", lambda: pareto([1.0, 2.0], 0.5), "the start of a tail is 0.5"),
    (
        "a table too large",
        lambda: adversary("swap", arms=100_000, max_delay=10, horizon=10**7),
        "A table of 10000000 steps and 100000 arms would take .*; take a shorter horizon",
    ),
    ("text for a delay", lambda: deterministic(["x"], 4), "are 'x'; they must be numbers"),
    ("truth for a delay", lambda: deterministic([True], 4), "are True; they must be numbers"),
    ("None for a delay", lambda: deterministic([None], 4), "the delay is nan|must be numbers"),
    ("list for a delay", lambda: deterministic([[1, 2]], 4), "must be one whole number"),
    ("law above D", lambda: Problem([Law([9], [1])], 4), "A delay of arm '0' is 9; .* at most"),
    ("no arms", lambda: deterministic([], 4), "The problem has 0 arms; .* at least 1"),
    ("no arms by name", lambda: from_samples({}, 4), "The problem has 0 arms"),
    ("no arms at random", lambda: bernoulli(0, 4), "The number of arms is 0; .* at least 1"),
    ("arms no list", lambda: deterministic(5, 4), "The arms are 5; .* a list or a dict"),
    ("no law", lambda: Problem([anything], 4), "Arm '0' is None; it must be a Law"),
    ("no label", lambda: Problem([Law([1], [1])], 4, (), anything), "The label is None"),
    ("D of 0", lambda: deterministic([0], 0), "The max_delay is 0; .* from 1 to 2147483646"),
    ("D negative", lambda: replay([[0]], -5), "The max_delay is -5"),
    ("D fractional", lambda: deterministic([0], 2.5), "The max_delay is 2.5"),  # type: ignore[arg-type]
    ("D too large", lambda: bernoulli(2, 2**31 - 1), "The max_delay is 2147483647"),
    ("D is NaN", lambda: bernoulli(2, NAN), "The max_delay is nan"),  # type: ignore[arg-type]
    ("D is text", lambda: bernoulli(2, "9"), "The max_delay is '9'"),  # type: ignore[arg-type]
    ("D is None", lambda: bernoulli(2, anything), "The max_delay is None"),
    ("sum below 1", lambda: from_pmf([([0, 1], [0.5, 0.4])], 4), "Arm '0': .* sum to 0.9; .* 1"),
    ("sum above 1", lambda: Law([0, 1], [0.5, 0.6]), "sum to 1.1; they must sum to 1"),
    ("infinite sum", lambda: Law([0, 1], [0.5, np.inf]), "sum to inf"),
    ("negative probability", lambda: Law([0, 1], [1.5, -0.5]), "A probability is -0.5"),
    ("NaN probability", lambda: Law([0, 1], [NAN, 1]), "A probability is nan"),
    ("text probability", lambda: Law([0], ["a"]), "The probabilities are .* must be numbers"),
    ("empty law", lambda: Law([], []), "The probabilities sum to 0"),
    ("lengths differ", lambda: Law([0, 1], [1]), r"shape \(2,\) .* shape \(1,\)"),
    ("law of a number", lambda: Law(1, 1), "both must be lists of one length"),
    ("value too large", lambda: Law([2**31], [1]), "The delay is 2147483648"),
    ("no pair", lambda: from_pmf([5], 4), "The law is 5|the law is 5; .* pair"),
    ("no distribution", lambda: from_distributions([5], 4), "Arm '0': the distribution is 5"),
    ("probability of 2", lambda: bernoulli(probabilities=[2]), "A probability is 2"),
    ("probability NaN", lambda: bernoulli(probabilities=[NAN]), "A probability is nan"),
    ("too few probabilities", lambda: bernoulli(3, probabilities=[0.5]), "3 arms were given 1"),
    ("no probabilities", lambda: bernoulli(probabilities=[]), "The problem has 0 arms"),
    ("mean_scale 0", lambda: truncated_normal(2, 4, mean_scale=0), "The mean_scale is 0; .* pos"),
    ("mean_scale NaN", lambda: truncated_normal(2, 4, mean_scale=NAN), "The mean_scale is nan"),
    ("negative seed", lambda: bernoulli(2, 4, seed=-1), "The seed is -1; .* at least 0"),
    ("fractional seed", lambda: TWO.world(0.5), "The seed is 0.5"),  # type: ignore[arg-type]
    ("names too few", lambda: deterministic([1, 2], 4, ["a"]), "2 arms were given 1 names"),
    ("names none", lambda: deterministic([1, 2], 4, []), "2 arms were given 0 names"),
    ("names repeated", lambda: deterministic([1, 2], 4, ["a", "a"]), "'a' is given to two arms"),
    ("names no list", lambda: deterministic([1, 2], 4, "ab"), "must be a list of strings"),
    ("names no strings", lambda: from_samples({1: [2]}, 4), "must be a list of strings"),
    ("names twice", lambda: deterministic({"a": 1}, 4, ["b"]), "its keys are their names"),
    ("table above D", lambda: replay([[1, 2], [3, 9]], 4), "at step 2 of arm 1 is 9; .* 0 to 4"),
    ("table negative", lambda: replay([[1, -2]], 4), "at step 1 of arm 1 is -2"),
    ("table fractional", lambda: replay([[1, 0.5]], 4), "at step 1 of arm 1 is 0.5; .* whole"),
    ("table with NaN", lambda: replay([[NAN, 1]], 4), "at step 1 of arm 0 is nan"),
    ("table ragged", lambda: replay([[1], [1, 2]], 4), "they must be numbers"),
    ("table empty", lambda: replay([], 4), r"shape \(0,\); .* \(steps, arms\)"),
    ("table without arms", lambda: replay([[], []], 4), r"shape \(2, 0\)"),
    ("table of one dimension", lambda: replay([1, 2], 4), r"shape \(2,\)"),
    ("row above D", lambda: replay([1, 9], 4), "at step 2 is 9"),
    ("samples fractional", lambda: from_samples({"a": [1, 0.25]}, 4), "Arm 'a': .* 0.25 .* unit="),
    ("samples above D", lambda: from_samples({"a": [1, 7]}, 4), "Arm 'a': the delay is 7"),
    (
        "samples above D in units",
        lambda: from_samples([[0.007]], 4, unit=0.001),
        "delay is 7; .*clip",
    ),
    ("samples with NaN", lambda: from_samples([[1, NAN]], 4), "the delay is nan"),
    ("samples with NaN in units", lambda: from_samples([[NAN]], 4, unit=2), "the delay is nan"),
    ("samples empty", lambda: from_samples({"a": []}, 4), "Arm 'a': .* a list, not empty"),
    ("samples a number", lambda: from_samples({"a": 3}, 4), "Arm 'a': .* a list, not empty"),
    ("unit 0", lambda: from_samples([[1]], 4, unit=0), "The unit is 0; .* positive"),
    ("unit text", lambda: from_samples([[1]], 4, unit=TEXT), "The unit is 'ms'"),
    ("step 0", lambda: TWO.delays(0, [0], 0), "One of the steps is 0"),
    ("step fractional", lambda: TWO.delays(0, [1.5], 0), "The steps are .* whole numbers"),
    ("arm too large", lambda: TWO.delays(0, 1, [0, 2]), "One of the arms is 2; .* from 0 to 1"),
    ("arm negative", lambda: TWO.survival(-1, 0), "The arm is -1; .* from 0 to 1"),
    ("shapes apart", lambda: TWO.delays(0, [1, 2, 3], [0, 1]), r"shape \(3,\) .* shape \(2,\)"),
    ("best_delay too large", lambda: hard_cost(6, 10), "The best_delay is 6; .* from 1 to 5"),
    ("D of 1 with two sides", lambda: hard_cost(1, 1), "The max_delay is 1; .* from 2"),
    ("one arm to confuse", lambda: hard_reward(2, 10, arms=1), "The number of arms is 1"),
    ("instance C", lambda: hard_close(2, 10, "C"), "'C'; it must be 'A' or 'B'"),  # type: ignore[arg-type]
    ("instance 3", lambda: hard_conservative_cost(2, 10, 3), "is 3; .* 1 or 2"),  # type: ignore[arg-type]
    ("best_delay too large for a root", lambda: hard_conservative_cost(3, 10), "from 1 to 2"),
]


@pytest.mark.parametrize(("call", "words"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_bad_input_is_refused_in_one_sentence(call: Callable[[], object], words: str) -> None:
    """The message says what was wrong, the value, and what is allowed."""
    with pytest.raises(InputError, match=words) as caught:
        call()
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 200


@pytest.mark.parametrize("payoff", ["costs", "", None, 1, ["cost"]])
def test_only_cost_and_reward_are_payoffs(payoff: Any) -> None:
    """Anything else is named and refused by both questions that take a payoff."""
    for question in (TWO.best, TWO.gaps):
        with pytest.raises(PayoffError, match="must be 'cost' or 'reward'"):
            question(payoff)


def test_unknown_family_is_answered_with_the_nearest() -> None:
    """A typing error is helped, nonsense gets the list; neither is anything but our exception."""
    with pytest.raises(UnknownNameError, match="did you mean truncated_normal"):
        by_name("truncatednormal")
    with pytest.raises(UnknownNameError, match="known are bernoulli, cdn"):
        by_name("qqqq")
    for nothing in (None, ["cdn"], 5):
        with pytest.raises(TarryError, match="There is no problem family named"):
            by_name(nothing)


def test_public_names_exist() -> None:
    """Everything in __all__ can be had, and is documented."""
    for name in problems.__all__:
        assert getattr(problems, name).__doc__
