"""What a log says, in words that need no statistics."""

from typing import TYPE_CHECKING

from tarry.checks import check_payoff
from tarry.logs.answers import (
    Difference,
    interval,
    mean_text,
    percent,
    rounded,
    shown,
)
from tarry.tables import counted, number

if TYPE_CHECKING:
    from tarry.logs.log import Log
    from tarry.problems.problem import Payoff


def summary(log: "Log", payoff: "Payoff") -> str:
    """Which arm is ahead, how sure that is, what is not known, and what all that rests on."""
    return " ".join([*verdict_words(log, payoff), *gaps(log), contents(log)])


def contents(log: "Log") -> str:
    """How many plays, how many of them unfinished, and the rows left out."""
    plays, arms = counted(len(log), "play"), counted(len(log.names), "arm")
    text = f"{plays} of {arms}, times up to {log.max_delay:g}; {open_plays(log)} unfinished."
    return f"{text} {log.bad}" if log.bad.number else text


def open_plays(log: "Log") -> str:
    """How many plays are unfinished."""
    if log.unfinished == len(log):
        return "all are" if len(log) > 1 else "it is"
    if not log.unfinished:
        return "none is"
    verb = "is" if log.unfinished == 1 else "are"
    return f"{log.unfinished} ({percent(log.unfinished / len(log))}) {verb}"


def verdict_words(log: "Log", payoff: "Payoff") -> list[str]:
    """Which arm is ahead, by how much, and whether that is clear."""
    reward = check_payoff(payoff)
    means = log.means()
    best = log.best(payoff)
    arm = best.arm
    mean = means[arm]
    size = mean_text(mean)
    said = f"{size} (95 % interval {interval(mean.low, mean.high)})"
    length = "longest" if reward else "shortest"
    others = [name for name in log.names if name != arm]
    if not others:
        return [f"{shown(arm)} has a mean of {said}."]
    chance = percent(best[arm]).replace("> ", "more than ")
    ahead = f"{shown(arm)} has the {length} mean, {said}"
    lines = [f"{ahead}; it is the best with a probability of {chance}."]
    apart = log.differences(level=1.0 - 0.05 / len(others))
    signed = {name: favourable(apart[arm, name], reward=reward) for name in others}
    rivals = [name for name in others if signed[name].low <= 0]
    if rivals:
        sure = "It is not clear yet that it is better than"
        lines.append(f"{sure} {listed(rivals)}.")
    else:
        lines.append("It is better than every other arm, with 95 % confidence.")
    nearest = min(others, key=lambda name: signed[name].difference)
    gap = favourable(log.differences()[arm, nearest], reward=reward)
    size = rounded(gap.difference, gap.high - gap.low)
    lines.append(
        f"The next is {shown(nearest)}, {size} {'less' if reward else 'more'}, "
        f"between {interval(gap.low, gap.high).replace(' to ', ' and ')}."
    )
    return lines


def favourable(difference: Difference, *, reward: bool) -> Difference:
    """The difference with its sign such that positive means better."""
    return difference if reward else difference.turned()


def gaps(log: "Log") -> list[str]:
    """Arms of which nobody knows what happens late."""
    means = log.means()
    return [
        f"No play of {shown(name)} was watched beyond {number(mean.known_to)}, so its "
        f"interval allows for anything up to {log.max_delay:g}."
        for name, mean in means.items()
        if mean.open_end
    ]


def listed(names: list[str]) -> str:
    """a, b and c."""
    names = [shown(name) for name in names]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
