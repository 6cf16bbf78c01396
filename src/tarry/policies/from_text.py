"""Policies from text: what people write on a command line, in a file or in a request."""

import ast
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tarry import policies
from tarry.errors import InputError, TarryError, UnknownNameError
from tarry.policies.protocol import Policy


def parse_policy(text: str) -> Policy:
    """The policy that is written like a call: "BDSE" or "BDSE(keep_history=True)".

    >>> parse_policy("opse(log_term='KT')")
    OPSE(log_term='KT')
    """
    name, settings = parse_call(text, "policy")
    return built(policies.by_name(name), settings, f"The policy {text!r}")


def parse_call(text: str, kind: str) -> tuple[str, dict[str, Any]]:
    """The name and the settings of "Name" or "Name(setting=value, ...)", without running it."""
    wrong = InputError(
        f"{text!r} is not a {kind}; write a name, or a name with settings: Name(setting=value)."
    )
    try:
        call = ast.parse(str(text).strip(), mode="eval").body
        if isinstance(call, ast.Name):
            return call.id, {}
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise wrong
        settings = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise wrong from error
    return call.func.id, settings


def built(maker: Callable[..., Any], settings: Mapping[str, Any], what: str) -> Any:
    """maker(**settings), with a sentence about settings that it does not have."""
    parameters = inspect.signature(maker).parameters
    allowed = list(parameters)
    for name in settings:
        if name not in allowed:
            raise UnknownNameError.of(f"setting of {maker.__name__}", name, allowed)
    needed = [
        name
        for name, one in parameters.items()
        if one.default is one.empty
        and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        and name not in settings
    ]
    if needed:
        form = ", ".join(f"{name}=..." for name in needed)
        raise InputError(
            f"{what} cannot be made without {' and '.join(needed)}; write {maker.__name__}({form})."
        )
    try:
        return maker(**settings)
    except TarryError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} cannot be made: {str(error).rstrip('.')}.") from error
