"""Numbers of a request that no rule can square: refused, and never taken for missing ones."""

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tarry
from tarry.errors import InputError
from tarry.live import Agent, ManualClock
from tarry.live import features as features_module
from tarry.live.features import Features

FEATURES = {
    "n": float,
    "bent": tarry.numeric(curve=True),
    "size": tarry.numeric(log=True, curve=True),
    "hour": tarry.cyclic(24),
    "old": tarry.numeric(missing=-1e300),
}
TOO_LARGE = [
    ({"n": 1e300}, r"'n' is 1e\+300, which is too large; it must be a number between -1e\+150 and"),
    ({"n": -1.1e150}, r"'n' is -1\.1e\+150, which is too large"),
    ({"n": 10**400}, r"'n' is 1000.*\.\.\., which is too large"),
    ({"n": 10**5000}, r"'n' is a number too long to print, which is too large"),
    ({"n": Decimal("1e400")}, r"'n' is Decimal\('1E\+400'\), which is too large"),
    ({"n": Fraction(10**400)}, r"which is too large"),
    ({"n": np.longdouble("1e400")}, r"which is too large"),
    ({"n": Decimal("-Infinity")}, r"'n' is infinite; it must be a number, or None"),
    ({"bent": 1.1e75}, r"'bent' is 1\.1e\+75, which .* between -1e\+75 and 1e\+75, or None"),
    ({"size": 10**400}, r"between -1\.8e\+308 and 1\.8e\+308, or None"),
    ({"old": 1e300}, r"'old' is 1e\+300, which is too large"),
]


@pytest.mark.parametrize(("context", "words"), TOO_LARGE)
def test_what_is_too_large_is_refused(context: Any, words: str) -> None:
    """In one sentence, whoever asks; nothing is played, and nothing is counted as missing."""
    agent = Agent(arms=["a", "b"], payoff="cost", max_delay=2.0, features=FEATURES)
    for verb in (agent.ask, agent.explain):
        with pytest.raises(InputError, match=words):
            verb(context=context)
    assert agent.counts.asked == agent.counts.features_missing == 0


def test_what_is_just_not_too_large_counts() -> None:
    """No column of it is beyond what a rule takes, and of a logarithm any number can be taken."""
    features = Features(FEATURES)
    context = {"n": -1e150, "bent": 1e75, "size": 1e308, "hour": 1e308, "old": -1e300}
    told = features.checked(context)
    assert told == {name: value for name, value in context.items() if name != "old"}
    numbers, missing, unknown = features.numbers(told)
    assert (missing, unknown) == (1, 0)
    assert max(abs(x) for x in numbers if not math.isnan(x)) <= 1e150


@pytest.mark.parametrize("missing", [10**400, Decimal("1e400")])
def test_a_stand_in_that_is_too_large_is_refused(missing: Any) -> None:
    """It is a number, and it is not called infinite."""
    with pytest.raises(InputError, match=r"missing is .*, which is too large"):
        tarry.numeric(missing=missing)


def test_journals_with_such_numbers_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They count as missing, as when they were written, and are in the history as they were."""
    clock = ManualClock()
    told: dict[str, Any] = {"payoff": "cost", "max_delay": 2.0, "clock": clock, "seed": 1}
    told |= {"path": tmp_path / "a.db", "durability": "normal", "in_flight": "keep"}
    with (
        monkeypatch.context() as before,
        Agent(arms=["a", "b"], features={"n": float}, **told) as agent,
    ):
        before.setattr(features_module, "_most", lambda _: math.inf)
        for number in range(40):
            play = agent.ask(context={"n": 1e300 if number % 4 == 0 else number})
            clock.advance(0.1)
            agent.tell(play)
        explained = agent.explain(context={"n": 3.0}).arms
    policies = (None, tarry.SurvivalRegression(bins=12))  # one makes evidence anew
    for policy in policies:
        with Agent(policy, **told) as agent:
            assert agent.history().context["n"][:5] == [1e300, 1.0, 2.0, 3.0, 1e300]
            if policy is None:
                assert agent.explain(context={"n": 3.0}).arms == explained
            with pytest.raises(InputError, match="too large"):
                agent.ask(context={"n": 1e300})
            agent.cancel(agent.ask(context={"n": 1.0}))
