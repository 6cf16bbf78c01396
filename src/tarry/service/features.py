"""Features of agents as the messages of the service have them, and back."""

import json
from typing import Any

import msgspec

from tarry.checks import cut
from tarry.live.features import Cyclic, Numeric, features_from
from tarry.service.messages import LONGEST_NAME, Feature
from tarry.service.problems import RefusedError


def features_of(told: dict[str, Feature]) -> dict[str, Any]:
    """Features as an agent takes them."""
    found: dict[str, Any] = {}
    for name, feature in told.items():
        check_feature(name, feature)
        if feature.values is not None:
            found[name] = feature.values
        elif feature.period is not None:
            found[name] = Cyclic(feature.period)
        else:
            found[name] = Numeric(feature.log, feature.curve, feature.missing)
    return found


def check_feature(name: str, feature: Feature) -> None:
    """Refuse a feature that is of two kinds: one of them would be lost without a word."""
    of_number = feature.log or feature.curve or feature.missing is not None
    if (feature.values is not None) + (feature.period is not None) + of_number > 1:
        raise RefusedError(
            "input",
            f"The feature {name[:LONGEST_NAME]!r} is of several kinds; give values, or period, or "
            f"what a number has: log, curve, missing.",
        )


def features_shown(described: list[list[Any]]) -> dict[str, Feature] | None:
    """Features as a message has them."""
    features = features_from(described)
    if features is None:
        return None
    found = {}
    for name, kind in features.kinds.items():
        if isinstance(kind, Cyclic):
            found[name] = Feature(period=kind.period)
        elif isinstance(kind, Numeric):
            found[name] = Feature(log=kind.log, curve=kind.curve, missing=kind.missing)
        else:
            found[name] = Feature(values=list(kind))
    return found


def as_sent(described: list[list[Any]]) -> str:
    """Features in the JSON that makes them, for people to read.

    >>> as_sent([["x", "number", False, False], ["l", "number", True, False]])
    '{"x": {}, "l": {"log": true}}'
    """
    shown = msgspec.to_builtins(features_shown(described) or {})
    return cut(json.dumps(shown, ensure_ascii=False), 500)
