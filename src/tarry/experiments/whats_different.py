"""In words: what tells one experiment from another, by their descriptions."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from tarry.checks import cut

MOST = 3  # names of policies or problems that are told; who wants more can read experiment.json
WIDTH = 60  # characters of a value
Entry = Mapping[str, Any]


def differences(there: Entry, here: Entry) -> str:
    """What differs between the experiment in a folder and the one to be run, for a sentence."""
    return ", ".join(told(there, here))


def told(there: Entry, here: Entry) -> Iterator[str]:
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
    there: Sequence[Entry],
    here: Sequence[Entry],
    follow: Collection[str] = (),
) -> Iterator[str]:
    """What differs between two lists of policies or of problems, but for the keys in `follow`."""
    names, ours = ([each[title] for each in listed] for listed in (there, here))
    if names != ours:
        only_there = [name for name in names if name not in ours]
        only_here = [name for name in ours if name not in names]
        if only_there:
            yield f"{one if len(only_there) == 1 else many} {listed(only_there)} only there"
        if only_here:
            yield f"{one if len(only_here) == 1 else many} {listed(only_here)} only here"
        if not only_there and not only_here:
            yield f"the order of the {many}"
        return
    found: dict[str, list[tuple[Entry, Entry]]] = {}
    for old, new in zip(there, here, strict=True):
        for key in changed(old, new, follow):
            found.setdefault(key, []).append((old, new))
    for key, pairs in found.items():
        whose = listed([old[title] for old, _ in pairs])
        told = {values(key, old.get(key), new.get(key)) for old, new in pairs}
        what = f"{PHRASES.get(key, key)} of {one if len(pairs) == 1 else many} {whose}"
        yield what + (told.pop() if len(told) == 1 else "")


def changed(old: Entry, new: Entry, follow: Collection[str]) -> list[str]:
    """The keys whose values differ, but for what follows from another one that does."""
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key) and key not in follow]
    implied = {each for key in keys for each in IMPLIES.get(key, ())}
    return [key for key in keys if key not in implied]


FROM_SEED = ("first", "first_digest")  # another seed draws another first instance
IMPLIES: dict[str, tuple[str, ...]] = {
    "name": ("settings", "code"),
    "first": ("first_digest", "arms", "max_delay", "changes"),
    "arms": ("first_digest",),
    "max_delay": ("first_digest",),
    "changes": ("first_digest",),
    "horizon": ("steps",),
}
PHRASES = {
    "code": "the code",
    "first_digest": "the delays, weights or features",
    "first": "the making",
    "name": "the class",
    "steps": "the recorded steps",
    "about": "the labels",
    "max_delay": "max_delay",
}


def listed(names: Sequence[str]) -> str:
    """The names, the first few if there are many."""
    more = len(names) - MOST
    if more > 0:
        return f"{', '.join(map(repr, names[:MOST]))} and {more} more"
    return " and ".join(map(repr, names))


def values(key: str, old: Any, new: Any) -> str:
    """Both values, of those that say something to people."""
    if key in ("code", "first_digest", "steps", "about"):
        return ""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        both = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        old, new = ({name: each[name] for name in both if name in each} for each in (old, new))
    left, right = apart(repr(old), repr(new))
    return f" {left} there and {right} here"


def apart(left: str, right: str) -> tuple[str, str]:
    """Two texts that differ; of long ones the part from where they do."""
    start = 0
    if max(len(left), len(right)) > WIDTH:
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
        same = len(list(alike))
        start = max(0, same - WIDTH // 3, *(left.rfind(mark, 0, same) + 1 for mark in "(,"))
    dots = "..." if start else ""
    return cut(dots + left[start:].lstrip(), WIDTH), cut(dots + right[start:].lstrip(), WIDTH)
