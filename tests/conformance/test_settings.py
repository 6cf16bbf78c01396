"""What every policy must be as an object: printed, compared, hashed, copied, documented."""

import dataclasses
import inspect
import pickle
import re
from typing import Any

import pytest
from tests.conformance.cases import POLICIES_VARIED

import tarry
from tarry.errors import PayoffError
from tarry.policies import POLICIES, Policy
from tarry.policies.label import policy_label

every_class = pytest.mark.parametrize("cls", POLICIES.values(), ids=POLICIES)
every_policy = pytest.mark.parametrize("policy", POLICIES_VARIED, ids=policy_label)


@every_policy
def test_prints_and_compares_by_its_settings(policy: Any) -> None:
    """What a policy prints makes an equal one, with an equal hash; a pickled copy is equal too."""
    again = eval(repr(policy), dict(POLICIES))  # noqa: S307  # the repr of our own class
    assert again == policy
    assert hash(again) == hash(policy)
    assert pickle.loads(pickle.dumps(policy)) == policy  # noqa: S301  # made in this line
    assert str(policy).startswith(type(policy).__name__ + "(")


def test_different_settings_are_different_policies() -> None:
    """No two of the varied policies are equal, and each has a label of its own."""
    assert len(set(POLICIES_VARIED)) == len(POLICIES_VARIED)
    assert len({policy_label(policy) for policy in POLICIES_VARIED}) == len(POLICIES_VARIED)


@every_policy
def test_settings_cannot_be_changed(policy: Any) -> None:
    """A policy is frozen: its settings are what they were when it was made."""
    assert dataclasses.is_dataclass(policy)
    for field in dataclasses.fields(policy):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(policy, field.name, None)


@every_class
def test_declares_what_it_needs(cls: type[Any]) -> None:
    """Each class says itself where it is from, what it serves and whether it needs a horizon."""
    assert vars(cls)["origin"] in {"paper", "baseline", "ours"}
    assert isinstance(vars(cls)["needs_horizon"], bool)
    assert set(vars(cls)["payoffs"]) <= {"cost", "reward"}
    assert vars(cls)["payoffs"]


@every_policy
def test_meets_the_protocol(policy: Any) -> None:
    """Each policy is a `Policy`."""
    assert isinstance(policy, Policy)


@every_class
def test_has_a_public_name(cls: type[Any]) -> None:
    """Each policy is a name of the package itself, and is found by that name in any case."""
    assert getattr(tarry, cls.__name__) is cls
    assert tarry.policies.by_name(cls.__name__.swapcase()) is cls


@every_class
def test_is_documented(cls: type[Any]) -> None:
    """A docstring has a formula, an example that is run, and each setting."""
    text = inspect.getdoc(cls) or ""
    assert ">>> " in text
    assert re.search(r"\S (=|~) |argmax|argmin", text.partition(">>> ")[0])
    for field in dataclasses.fields(cls):
        assert f"    {field.name}: " in text


@every_policy
def test_payoff_it_cannot_serve_is_refused(policy: Any) -> None:
    """The message names the policy, the payoff, and the policy that serves it."""
    problem = tarry.problems.deterministic([1, 2], max_delay=2)
    name = type(policy).__name__
    others: set[Any] = {"cost", "reward"} - set(policy.payoffs)
    for payoff in others:
        with pytest.raises(PayoffError) as caught:
            tarry.play(policy, problem, payoff=payoff, horizon=10)
        counterpart = type(policy).counterpart
        assert payoff in POLICIES[counterpart].payoffs
        for word in (name, payoff, counterpart):
            assert word in str(caught.value)
