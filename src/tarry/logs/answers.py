"""What a log says about its arms: curves, means, differences, and which arm is the best.

Each answer is a dict by arm that prints as a table.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tarry.arrays import FloatArray, IntArray
from tarry.checks import shortened
from tarry.errors import UnknownArmError
from tarry.logs.by_arm import ByArm
from tarry.tables import aligned, number

JOINERS = "\u200c\u200d"
WIDEST = 32  # signs of a name in tables and sentences


class Curve(NamedTuple):
    """The share of an arm's plays still going on after each time, with an interval for each.

    `survival` is the estimate of Kaplan and Meier, `variance` that of Greenwood. The interval from
    `low` to `high` holds for each time by itself, not for the whole curve at once.
    """

    times: FloatArray
    survival: FloatArray
    low: FloatArray
    high: FloatArray
    at_risk: IntArray  # plays that lasted at least so long and were watched
    variance: FloatArray

    def at(self, age: float) -> float:
        """The share still going on after `age`."""
        place = int((self.times <= age).sum()) - 1
        return float(self.survival[place]) if place >= 0 else 1.0


class Mean(NamedTuple):
    """The mean delay of an arm, at most D each, in the unit of the log, with an interval."""

    mean: float
    low: float
    high: float
    plays: int
    unfinished: int
    known_to: float  # the curve is known up to this age
    open_end: bool  # whether that is before D; the mean then holds the curve level: at most so much


class Difference(NamedTuple):
    """By how much the mean of one arm exceeds that of another, with an interval."""

    difference: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0 or self.high < 0

    def turned(self) -> "Difference":
        """The other way round."""
        return Difference(-self.difference, -self.high, -self.low)


class Curves(ByArm[Curve]):
    """A curve for each arm."""

    def __repr__(self) -> str:
        return f"<Curves of {', '.join(map(shown, self))}>"


class Means(ByArm[Mean]):
    """The mean of each arm."""

    def __init__(self, means: Mapping[str, Mean], level: float) -> None:
        super().__init__(means)
        self.level = level

    def __str__(self) -> str:
        heads = ["arm", "plays", "unfinished", "mean", interval_head(self.level)]
        rows = [
            [
                shown(arm),
                str(m.plays),
                str(m.unfinished),
                mean_text(m),
                interval(m.low, m.high),
            ]
            for arm, m in self.items()
        ]
        return "\n".join(aligned([heads, *rows]))


class Differences(dict[tuple[str, str], Difference]):
    """The difference of each pair of arms; `differences["a", "b"]` is a minus b."""

    def __init__(self, differences: Mapping[tuple[str, str], Difference], level: float) -> None:
        super().__init__(differences)
        self.level = level

    def __missing__(self, pair: Any) -> Difference:
        arms = dict.fromkeys(arm for both in self for arm in both)
        if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1] or not arms:
            known = f"name two of the arms {', '.join(arms)}" if arms else "the log has one arm"
            raise UnknownArmError(f"There is no difference of {shortened(pair)}; {known}.")
        for arm in pair:
            if arm not in arms:
                raise UnknownArmError.among(arm, arms)
        return self[pair[1], pair[0]].turned()

    def __str__(self) -> str:
        heads = ["arms", "difference", interval_head(self.level), "verdict"]
        rows = [[f"{shown(a)} - {shown(b)}", *difference_cells(d)] for (a, b), d in self.items()]
        return "\n".join(aligned([heads, *rows], left=(0, 3)))


class Best(ByArm[float]):
    """For each arm the probability to be the best, and what is lost on average if it is chosen."""

    def __init__(
        self, chances: Mapping[str, float], loss: Mapping[str, float], payoff: str
    ) -> None:
        super().__init__(chances)
        self.loss = ByArm(loss)
        self.payoff = payoff

    @property
    def arm(self) -> str:
        """The arm that loses least on average."""
        return min(self.loss, key=self.loss.__getitem__)

    def __str__(self) -> str:
        heads = ["arm", "best", "loss if chosen"]
        rows = [
            [shown(arm), percent(chance), short(self.loss[arm])] for arm, chance in self.items()
        ]
        return "\n".join(aligned([heads, *rows]))


def interval_head(level: float) -> str:
    """The head of a column of intervals."""
    return f"{100 * level:g} % interval"


def interval(low: float, high: float) -> str:
    """An interval in words, as short as its width allows."""
    return f"{rounded(low, high - low)} to {rounded(high, high - low)}"


def rounded(value: float, width: float) -> str:
    """A number to about a hundredth of the width of its interval."""
    digits = next((d for d in range(6) if width >= 20 * 10.0**-d), 6)
    text = f"{value:,.{digits}f}".replace(",", " ")
    return text.removeprefix("-") if float(text.replace(" ", "")) == 0 else text


def short(value: float) -> str:
    """A number with two digits: an expected loss is not known better."""
    return number(float(f"{value:.2g}"))


def mean_text(mean: Mean) -> str:
    """A mean as exactly as its interval allows, or that it is at most so much."""
    return ("≤ " if mean.open_end else "") + rounded(mean.mean, mean.high - mean.low)


def verdict(difference: Difference) -> str:
    """Whether a difference is one."""
    if difference.low > 0:
        return "longer"
    return "shorter" if difference.high < 0 else "not clear"


def difference_cells(difference: Difference) -> list[str]:
    """How much, between which limits, and what that says: of one pair, for a table."""
    low, high = difference.low, difference.high
    return [rounded(difference.difference, high - low), interval(low, high), verdict(difference)]


def shown(name: str, widest: int = WIDEST) -> str:
    """The name of an arm on paper: signs that cannot be seen are spelled out, long names cut.

    The joiners of emoji and of Persian words stay; a mark that turns the direction of all that
    follows does not. The end of a long name often says more than its middle.
    """
    text = "".join(
        sign if sign.isprintable() or sign in JOINERS else sign.encode("unicode_escape").decode()
        for sign in name
    )
    return text if len(text) <= widest else f"{text[: widest - 11]}…{text[-10:]}"


def percent(chance: float) -> str:
    """A probability in whole per cent; none is quite 0 or 1."""
    if chance < 0.01:
        return "< 1 %"
    if chance > 0.99:
        return "> 99 %"
    return f"{100 * chance:.0f} %"


def as_plain(answer: Mapping[Any, Any]) -> Iterator[dict[str, Any]]:
    """One plain dict for each arm or pair, as JSON wants it."""
    for name, value in answer.items():
        where: Sequence[str] = (name,) if isinstance(name, str) else name
        keys = ("arm",) if len(where) == 1 else ("arm", "against")
        fields = value._asdict() if hasattr(value, "_asdict") else {"value": value}
        yield {**dict(zip(keys, where, strict=True)), **fields}
