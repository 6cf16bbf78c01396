"""What is going on with an agent, and how sure that is, in a sentence or two."""

from typing import Any

from tarry.logs.answers import percent, rounded, shown
from tarry.tables import counted

UNITS = (  # (at least so many seconds, sign, seconds)
    (2 * 86_400.0, "d", 86_400.0),
    (2 * 3600.0, "h", 3600.0),
    (180.0, "min", 60.0),
    (1.0, "s", 1.0),
    (1e-3, "ms", 1e-3),
    (0.0, "µs", 1e-6),
)
LEAST = 1e-9  # seconds: less is nothing
SURE, LIKELY = 0.95, 0.8
CLOSE = 0.03  # means that differ by less than this share are as good as equal


def unit_for(scale: float) -> tuple[str, float]:
    """The unit that suits times of about `scale` seconds, and how many seconds it has."""
    return next((sign, size) for least, sign, size in UNITS if scale >= least)


def duration(value: float, width: float | None = None) -> str:
    """A time in a unit that suits it, as exactly as the width of its interval allows.

    >>> duration(132.4, 50), duration(0.0413, 0.002), duration(7560, 3000), duration(0)
    ('132 s', '41.3 ms', '2.10 h', '0 s')
    """
    if abs(value) < LEAST:
        return "0 s"
    sign, size = unit_for(abs(value))
    fine = width or 2 * abs(value)
    return f"{rounded(value / size, fine / size)} {sign}"


def sentences(doc: dict[str, Any]) -> list[str]:
    """Of a view: who is ahead, how sure that is, what it has cost, and what is wrong."""
    return [*lead(doc), *troubles(doc)]


def lead(doc: dict[str, Any]) -> list[str]:
    """Who is ahead and how sure that is."""
    arms = doc["arms"]
    if not arms:
        return [f"There is no arm to choose; add one to {'go on' if doc['plays'] else 'begin'}."]
    if not doc["plays"]:
        are = "1 arm is" if len(arms) == 1 else f"{len(arms)} arms are"
        return [f"Nobody has asked yet; {are} ready."]
    if doc["leader"] is not None:
        return ahead(doc, next(arm for arm in arms if arm["name"] == doc["leader"]))
    if not doc["features"] or not any(arm["ended"] for arm in arms):
        return [nothing_back(doc)]
    return by_request(doc) if len(arms) > 1 else ahead(doc, arms[0])


def ahead(doc: dict[str, Any], best: dict[str, Any]) -> list[str]:
    """Of an agent with a leading arm."""
    who, width = shown(best["name"]), best["high"] - best["low"]
    said = f"{duration(best['mean'], width)} on average{' at present' * doc['follows_change']}"
    if len(doc["arms"]) == 1:
        return [f"{who} takes {said}; there is no other arm to compare it with."]
    if doc["choices"] == 1:
        return [f"{who} takes {said}; no other arm can be chosen.", *paused(doc, best)]
    does = "lasts longest" if doc["payoff"] == "reward" else "is quickest"
    return [who_leads(doc, who, does, said, runner_up(doc)), *paused(doc, best), *price(doc)]


def nothing_back(doc: dict[str, Any]) -> str:
    """That nothing is known of the arms, and what became of what was played."""
    if doc["ended"]:
        return f"Nothing has come back of these arms yet; {doc['ended']} plays of others ended."
    if doc["out"]:
        are = "is" if doc["out"] == 1 else "are"
        return f"{counted(doc['out'], 'play')} {are} out and nothing has come back yet."
    if doc["cancelled"] == doc["plays"]:
        return "Nothing has come back yet: all plays were cancelled."
    return "Nothing has come back yet: no play was heard of to its end."


def by_request(doc: dict[str, Any]) -> list[str]:
    """Where the choice depends on the request: what was chosen, and no winner."""
    on = doc["features"] if len(doc["features"]) <= 3 else [*doc["features"][:2], "…"]
    often = sorted((arm for arm in doc["arms"] if arm["share"]), key=lambda arm: -arm["share"])
    shares = [
        f"{shown(arm['name'])} {'' if k else 'was chosen '}for {100 * arm['share']:.0f} %"
        for k, arm in enumerate(often[:3])
    ]
    if len(often) > 3:
        shares[2:] = [f"{len(often) - 2} others for the rest"]
    head = f"The choice may depend on the request ({', '.join(map(shown, on))})"
    lately = f": lately, {', '.join(shares)}." if shares else "."
    return [head + lately, "The mean of an arm is over the requests that it was chosen for."]


def paused(doc: dict[str, Any], best: dict[str, Any]) -> list[str]:
    """That an arm is paused which is better, or the leading one itself."""
    if best["state"] == "paused" and any(arm["state"] != "paused" for arm in doc["arms"]):
        return [f"{shown(best['name'])} is paused."]
    better = doc["better_paused"]
    if better is None:
        return []
    does = "lasts longer" if doc["payoff"] == "reward" else "is quicker"
    probably = "" if better["sure"] >= SURE else "probably "
    return [f"{shown(better['name'])} {probably}{does}, but it is paused."]


def who_leads(
    doc: dict[str, Any], who: str, does: str, said: str, second: dict[str, Any] | None
) -> str:
    """The sentence about the leading arm, by how sure it is."""
    sure, many = doc["sure"], doc["choices"]
    chance = percent(sure).replace("> ", "more than ").replace("< ", "less than ")
    which = "" if many == len(doc["arms"]) else " that can be chosen"
    of = f"it is the best of {many}{which} with a probability of {chance}"
    if sure >= SURE:
        return f"{who} {does}, {said}: {of}."
    if second is not None and equal(doc, second):
        other = shown(second["name"])
        return f"{who} and {other} are about equal, {said}: it hardly matters which is chosen."
    if sure >= LIKELY:
        return f"{who} probably {does}, {said}: {of}."
    rest = f", {shown(second['name'])} with {percent(second['best'])}" if second else ""
    return f"It is too early to tell: {who} is ahead, {said}, but {of}{rest}."


def runner_up(doc: dict[str, Any]) -> dict[str, Any] | None:
    """The arm that is most likely to be the best after the leading one."""
    others = [arm for arm in doc["arms"] if arm["name"] != doc["leader"] and arm["best"]]
    return max(others, key=lambda arm: arm["best"], default=None)


def equal(doc: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether two arms are so close, and known so well, that the choice does not matter."""
    best = next(arm for arm in doc["arms"] if arm["name"] == doc["leader"])
    apart = max(best["high"], second["high"]) - min(best["low"], second["low"])
    return doc["sure"] + second["best"] > SURE and apart <= 4 * CLOSE * best["mean"]


def price(doc: dict[str, Any]) -> list[str]:
    """What finding out has cost."""
    cost = doc["cost_of_learning"]
    if cost is None:
        return []
    if cost["value"] < LEAST:
        return ["Finding out has cost next to nothing so far."]
    return [f"Finding out has cost about {duration(cost['value'])} so far."]


def troubles(doc: dict[str, Any]) -> list[str]:
    """What somebody should look at."""
    said = [doc["store"]["text"]] if doc["store"]["state"] != "ok" else []
    alarmed = [shown(arm["name"]) for arm in doc["arms"] if arm["alarm"]]
    if any(alarm["what"] == "Void plays" for alarm in doc["alarms"]):
        alarmed.append("the reporting")
    if any(alarm["what"] == "Arms" for alarm in doc["alarms"]):
        said.append("All arms are paused: nothing can be chosen.")
    if len(alarmed) > 3:
        said.append(f"{len(alarmed)} arms need a look.")
    elif alarmed:
        said.append(f"{' and '.join(alarmed)} need{'s' * (len(alarmed) == 1)} a look.")
    return said
