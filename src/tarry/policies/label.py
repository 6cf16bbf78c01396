"""How a policy is called: its name with the settings that are not the default."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from tarry.policies.own_code import digest_of, state_of

SHOWN = 8  # elements of an array that a label spells out
DIGITS = 8  # of a fingerprint in a label
PLAIN = (type(None), bool, int, float, complex, str, bytes)


def policy_label(policy: Any) -> str:
    """The policy's name with those settings that are not the default: BDSE(keep_history=True)."""
    defaults = default_settings(policy)
    told = [
        f"{name}={setting_text(value)}"
        for name, value in policy_settings(policy).items()
        if name not in defaults or not same(value, defaults[name])
    ]
    return f"{type(policy).__name__}({', '.join(told)})" if told else type(policy).__name__


def policy_settings(policy: Any) -> dict[str, Any]:
    """The settings of a policy by name: the fields of a dataclass, else all of its attributes."""
    if dataclasses.is_dataclass(policy):
        return {f.name: getattr(policy, f.name) for f in dataclasses.fields(policy)}
    return state_of(policy)


def default_settings(policy: Any) -> dict[str, Any]:
    """The defaults of a dataclass by name; a class that is none has no defaults that we know of."""
    found = {}
    for each in dataclasses.fields(policy) if dataclasses.is_dataclass(policy) else ():
        if each.default is not dataclasses.MISSING:
            found[each.name] = each.default
        elif each.default_factory is not dataclasses.MISSING:
            found[each.name] = each.default_factory()
    return found


def same(one: Any, other: Any) -> bool:
    """Whether two settings are equal; arrays by their elements."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return type(one) is type(other) and one.dtype == other.dtype and np.array_equal(one, other)
    try:
        return one is other or bool(one == other)
    except (TypeError, ValueError):  # arrays inside of something
        return digest_of(one) == digest_of(other)


def setting_text(value: Any) -> str:
    """A setting in a few words, the same in every process; different settings read differently."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) in PLAIN:
        return repr(value)
    if isinstance(value, np.ndarray):
        return array_text(value)
    if isinstance(value, list | tuple | Mapping):
        return container_text(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return policy_label(value)
    name = getattr(value, "__qualname__", type(value).__qualname__)
    return f"{name}#{digest_of(value)[:DIGITS]}"


def container_text(value: Any) -> str:
    """A list, a tuple or a mapping as Python writes it."""
    if isinstance(value, Mapping):
        pairs = (f"{setting_text(key)}: {setting_text(each)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    inside = ", ".join(map(setting_text, value))
    return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"


def array_text(array: np.ndarray[Any, Any]) -> str:
    """An array by its elements if they are few, else by its shape and a fingerprint."""
    if array.size <= SHOWN:
        return f"array({array.tolist()})"
    return f"array({' x '.join(map(str, array.shape))}, {digest_of(array)[:DIGITS]})"
