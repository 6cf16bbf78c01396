"""In words: what tells one experiment from another, by their descriptions."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tarry.checks import shortened

MOST = 3  # differences that are told; who wants more can read experiment.json


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """What differs between the experiment in a folder and the one to be run, for a sentence."""
    found = list(told(there, here))
    more = len(found) - MOST
    return ", ".join(found[:MOST]) + (f", and {more} more" if more > 0 else "")


def told(there: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    """Each difference in a few words: what it is there, and here."""
    for word in ("payoff", "seed"):
        if there[word] != here[word]:
            yield f"{word} {there[word]!r} there and {here[word]!r} here"
    yield from of_list("policy", "policies", "label", there["policies"], here["policies"])
    follow = FROM_SEED if there["seed"] != here["seed"] else ()
    yield from of_list("problem", "problems", "name", there["problems"], here["problems"], follow)
    if there["versions"]["code"] != here["versions"]["code"]:
        old, new = (each["versions"]["tarry"] for each in (there, here))
        yield f"{'other sources of ' if old == new else ''}tarry {old} there"


def of_list(
    one: str,
    many: str,
    title: str,
    there: list[dict[str, Any]],
    here: list[dict[str, Any]],
    follow: Collection[str] = (),
) -> Iterator[str]:
    """What differs between two lists of policies or of problems, but for the keys in `follow`."""
    names, ours = ([each[title] for each in listed] for listed in (there, here))
    if names != ours:
        only_there = [name for name in names if name not in ours]
        only_here = [name for name in ours if name not in names]
        if only_there:
            yield f"{one} {' and '.join(map(repr, only_there))} only there"
        if only_here:
            yield f"{one} {' and '.join(map(repr, only_here))} only here"
        if not only_there and not only_here:
            yield f"the order of the {many}"
        return
    for old, new in zip(there, here, strict=True):
        changed = [key for key, value in old.items() if value != new.get(key)]
        for key in changed:
            if key not in follow and not (key == "steps" and "horizon" in changed):
                yield f"{PHRASES.get(key, key)} of {one} {old[title]!r}{values(key, old[key], new)}"


FROM_SEED = ("first", "first_digest")  # another seed draws another first instance
PHRASES = {
    "code": "the code",
    "first_digest": "the delays",
    "first": "the making",
    "steps": "the recorded steps",
    "about": "the labels",
    "max_delay": "max_delay",
}


def values(key: str, old: Any, new: Mapping[str, Any]) -> str:
    """Both values, where they are short enough to say something."""
    if key in ("code", "first_digest", "steps", "about"):
        return ""
    return f" {shortened(old)} there and {shortened(new.get(key))} here"
