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
SURE, LIKELY = 0.95, 0.8
CLOSE = 0.03  # means that differ by less than this share are as good as equal


def unit_for(scale: float) -> tuple[str, float]:
    """The unit that suits times of about `scale` seconds, and how many seconds it has."""
    return next((sign, size) for least, sign, size in UNITS if scale >= least)


def duration(value: float, width: float | None = None) -> str:
    """A time in a unit that suits it, as exactly as the width of its interval allows.

    >>> duration(132.4, 50), duration(0.0413, 0.002), duration(7560, 3000)
    ('132 s', '41.3 ms', '2.10 h')
    """
    sign, size = unit_for(abs(value))
    fine = 2 * abs(value) if width is None else width
    return f"{rounded(value / size, fine / size)} {sign}"


def sentences(doc: dict[str, Any]) -> list[str]:
    """Of a view: who is ahead, how sure that is, what it has cost, and what is wrong."""
    return [*lead(doc), *troubles(doc)]


def lead(doc: dict[str, Any]) -> list[str]:
    """Who is ahead and how sure that is."""
    arms = doc["arms"]
    if not arms:
        return ["There is no arm to choose; add one to begin."]
    if not doc["plays"]:
        are = "1 arm is" if len(arms) == 1 else f"{len(arms)} arms are"
        return [f"Nobody has asked yet; {are} ready."]
    if doc["leader"] is None:
        out = counted(doc["out"], "play")
        return [f"{out} {'is' if doc['out'] == 1 else 'are'} out and nothing has come back yet."]
    best = next(arm for arm in arms if arm["name"] == doc["leader"])
    who, width = shown(best["name"]), best["high"] - best["low"]
    said = f"{duration(best['mean'], width)} on average"
    if len(arms) == 1:
        return [f"{who} takes {said}; there is no other arm to compare it with."]
    does = "lasts longest" if doc["payoff"] == "reward" else "is quickest"
    return [who_leads(doc, who, does, said, runner_up(doc)), *price(doc)]


def who_leads(
    doc: dict[str, Any], who: str, does: str, said: str, second: dict[str, Any] | None
) -> str:
    """The sentence about the leading arm, by how sure it is."""
    sure, many = doc["sure"], len(doc["arms"])
    chance = percent(sure).replace("> ", "more than ")
    of = f"it is the best of {many} with a probability of {chance}"
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
