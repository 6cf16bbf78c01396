"""SegmentThompson: SurvivalThompson for each kind of request by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tarry.arrays import Constant, Ints
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.bins import check_bins
from tarry.policies.protocol import Setting
from tarry.policies.survival.evidence import SurvivalEvidence, empty_evidence
from tarry.policies.survival.thompson import distance_drawn
from tarry.randomness import Random


class SegmentThompsonRule(NamedTuple):
    """The running form of `SegmentThompson`; curve arm * segments + segment is that of a pair."""

    reward: bool
    segments: int
    edges: Constant[Ints]  # ages at which the rule hears of plays still out: the ends of the bins
    evidence: SurvivalEvidence

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Draw every arm's mean payoff in the segment of this request; play the best."""
        segment = self.segment_of(plays, row)
        best = 0
        least = 0.0
        for arm in range(len(ledger.plays)):
            value = distance_drawn(
                self.evidence, arm * self.segments + segment, self.reward, 0.0, rng
            )
            fewer = ledger.plays[arm] < ledger.plays[best]
            if arm == 0 or value < least or (value == least and fewer):
                best = arm
                least = value
        return best

    def segment_of(self, plays: Plays, row: int) -> int:
        """The first feature that is set, counted from 1; 0 if none is."""
        for j in range(self.segments - 1):
            if plays.context[row, j] >= 0.5:
                return j + 1
        return 0

    def curve_of(self, plays: Plays, row: int) -> int:
        """The curve that a play belongs to."""
        return plays.arm[row] * self.segments + self.segment_of(plays, row)

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer: an event in its bin."""
        self.evidence.book_event(self.curve_of(plays, row), plays.delay[row])

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out has crossed the end of a bin."""
        self.evidence.book_pass(self.curve_of(plays, row), edge)

    def withdrawn(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """An answer told late shows that its play had not crossed the end of this bin."""
        self.evidence.unbook_pass(self.curve_of(plays, row), edge)


@dataclass(frozen=True)
class SegmentThompson:
    """`SurvivalThompson` for each segment of requests by itself: the obvious way, for comparison.

    For requests that belong to one of a few kinds, as features that are 0 but for a single 1. The
    segment of a request is its first feature of at least 1/2, or one more segment if there is none.
    Nothing is carried over from one segment to another. For the request's own segment draw

        X_i = (1 - rho) Y    (cost)      or      1 - (1 - rho) (1 - Y)    (reward)

    as `SurvivalThompson` does, for all arms in every step, and play argmin X_i or argmax X_i; ties
    go to the arm with fewest plays, then to the lowest index.

    Args:
        bins: Number of bins, from 2; fewer where D has not so many different whole numbers.

    >>> import tarry
    >>> phone = tarry.problems.deterministic([1, 4], max_delay=4)
    >>> desktop = tarry.problems.deterministic([3, 2], max_delay=4)
    >>> problem = tarry.problems.segments({"phone": phone, "desktop": desktop})
    >>> run = tarry.play(tarry.SegmentThompson(), problem, payoff="cost", horizon=1000, seed=0)
    >>> bool((run.arms[-500:] == run.contexts[-500:]).mean() > 0.95)
    True
    """

    bins: int = 24
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "baseline"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        check_bins(self.bins)

    def start(self, setting: Setting) -> SegmentThompsonRule:
        """Nothing is known of any arm in any segment."""
        segments = setting.features + 1
        evidence = empty_evidence(setting.arms * segments, setting.max_delay, self.bins)
        return SegmentThompsonRule(setting.reward, segments, evidence.edges, evidence)
