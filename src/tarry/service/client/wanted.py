"""The agent that is wanted of a service, as a body that makes it."""

from collections.abc import Mapping, Sequence
from typing import Any

from tarry.checks import check_payoff, check_proper
from tarry.errors import InputError
from tarry.live.features import Cyclic, Features, Numeric
from tarry.live.settings import check_max_delay, check_names
from tarry.policies.check import check_policy
from tarry.policies.label import policy_label

TAKEN = ("lease", "heartbeat", "features", "seed", "horizon")


def wanted(
    policy: Any, arms: Sequence[str], payoff: str, max_delay: float, more: Mapping[str, Any]
) -> dict[str, Any]:
    """The body that makes an agent."""
    check_payoff(payoff)
    body: dict[str, Any] = {
        "arms": check_names(arms),
        "payoff": payoff,
        "max_delay": check_max_delay(max_delay) / 1e6,
    }
    for name in more:
        if name not in TAKEN:
            raise InputError(
                f"{name} is nothing that an agent of a service takes; it takes {', '.join(TAKEN)}."
            )
    if policy is not None:
        if not isinstance(policy, str):
            check_policy(policy, payoff)
            policy = policy_label(policy)
        check_proper(policy, "policy")
        body["policy"] = policy
    body |= {name: value for name, value in more.items() if value is not None}
    if body.get("features") is not None:
        body["features"] = described(body["features"])
    return body


def described(features: Mapping[str, Any]) -> dict[str, Any]:
    """Features as the service takes them."""
    found: dict[str, Any] = {}
    known = Features(features)
    known.check_proper()
    for name, kind in known.kinds.items():
        if isinstance(kind, Numeric):
            found[name] = {what: given for what, given in kind._asdict().items() if is_set(given)}
        elif isinstance(kind, Cyclic):
            found[name] = {"period": kind.period}
        else:
            found[name] = {"values": list(kind)}
    return found


def features_there(shown: Mapping[str, Any] | None) -> Features | None:
    """The features that the service shows of an agent; the other way round."""
    found: dict[str, Any] = {}
    for name, kind in (shown or {}).items():
        if kind.get("values") is not None:
            found[name] = kind["values"]
        elif kind.get("period") is not None:
            found[name] = Cyclic(kind["period"])
        else:
            found[name] = Numeric(**{what: kind[what] for what in Numeric._fields if what in kind})
    return Features(found) if found else None


def is_set(value: Any) -> bool:
    """Whether a setting of a feature is another than the usual one, which is not shown."""
    return value is not None and value is not False
