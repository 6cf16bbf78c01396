"""LinearThompson: linear Thompson sampling on delays that are guessed until they are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tarry.arrays import Constant, Ints
from tarry.ledger import Ledger
from tarry.plays import Plays
from tarry.policies.bins import check_bins
from tarry.policies.contexts.ridge import Ridge, no_ridge
from tarry.policies.contexts.scaler import Scaler, new_scaler
from tarry.policies.protocol import Setting
from tarry.policies.survival.evidence import SurvivalEvidence, empty_evidence
from tarry.randomness import Random

NOT_IN = -1.0  # the note of a play that has not come into the regression
MASS, END = 0.5, 0.8  # prior of the curves that delays are guessed from: plays, share on D


class LinearThompsonRule(NamedTuple):
    """The running form of `LinearThompson`."""

    reward: bool
    edges: Constant[Ints]  # ages at which the rule hears of plays still out: the ends of the bins
    evidence: SurvivalEvidence
    ridge: Ridge
    scaler: Scaler

    def select(self, ledger: Ledger, plays: Plays, row: int, now: int, rng: Random) -> int:
        """Draw the payoff of each arm for this request; play the best."""
        self.scaler.look(plays, row)
        best = 0
        least = 0.0
        for arm in range(len(ledger.plays)):
            doubt = self.ridge.doubt(arm, self.scaler.z)
            value = self.ridge.value(arm, self.scaler.z)
            value += self.ridge.noise(arm) * doubt**0.5 * rng.normal()
            loss = -value if self.reward else value
            if arm == 0 or loss < least:
                best = arm
                least = loss
        return best

    def started(self, plays: Plays, row: int) -> None:
        """The request of a play widens the scales; nothing is guessed of its delay yet."""
        self.scaler.see(plays, row)
        plays.note[row] = NOT_IN

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer: what was guessed is known."""
        delay = plays.delay[row]
        if delay < self.evidence.max_delay:  # otherwise it has outlived all edges, and told so
            self.evidence.book_event(plays.arm[row], delay)
            self.aim(plays, row, delay / self.evidence.max_delay)
            self.ridge.judge(plays.arm[row], self.scaler.z, delay / self.evidence.max_delay)

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out has crossed the end of a bin: the guess is that of those who have."""
        arm = plays.arm[row]
        self.evidence.book_pass(arm, edge)
        self.aim(plays, row, self.evidence.mean_from(arm, edge + 1))
        if edge + 1 == len(self.edges):
            self.ridge.judge(arm, self.scaler.z, 1.0)

    def withdrawn(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """An answer told late: the pass is taken back, and its answer corrects the guess."""
        self.evidence.unbook_pass(plays.arm[row], edge)

    def aim(self, plays: Plays, row: int, target: float) -> None:
        """The payoff of the play is `target`, as far as is known."""
        self.scaler.look(plays, row)
        if plays.note[row] < 0.0:
            self.ridge.enter(plays.arm[row], self.scaler.z, target)
        else:
            self.ridge.move(plays.arm[row], self.scaler.z, target - plays.note[row])
        plays.note[row] = target


@dataclass(frozen=True)
class LinearThompson:
    """Linear Thompson sampling on delays that are guessed until they are known.

    A ridge regression of the payoff x = d / D on u = (1, z) per arm, with z the features of the
    request, scaled as they come (`tarry.policies.contexts.scaler`):

        P = (I + sum u u')^-1,    w = P sum u x,    X_i ~ N(w . u, s^2 u . P u)

    over the plays of arm i, and s^2 the mean square of its residuals, with one of 1/4 in advance.
    Play argmin X_i (cost) or argmax X_i (reward). A play counts from its first unit of time on: as
    long as it is out, x is the mean payoff of all plays of the arm that have lasted as long, by the
    arm's survival curve (`tarry.policies.survival.evidence`, half a play in advance). When it
    crosses the end of a bin, or comes back, only the target moves: w += P u (new - old).

    Simpler and quicker than `SurvivalRegression`, close to it where mean payoffs are linear, and
    several times worse where contexts are useless: see docs/contexts-measured.md. It is sure too
    soon of kinds of requests that are rare, and can lose one for good. Needs no horizon; no bound
    is claimed.

    Args:
        bins: Number of bins, from 2; fewer where D has not so many different whole numbers.

    >>> import tarry
    >>> problem = tarry.problems.linear(arms=3, features=2, max_delay=50, seed=1)
    >>> run = tarry.play(tarry.LinearThompson(), problem, payoff="cost", horizon=5000, seed=0)
    >>> bool(run.regret[-1] < 0.5 * 5000 * problem.fixed_gaps("cost").min())
    True
    """

    bins: int = 24
    payoffs: ClassVar[Sequence[str]] = ("cost", "reward")
    origin: ClassVar[str] = "ours"
    needs_horizon: ClassVar[bool] = False
    shareable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        check_bins(self.bins)

    def start(self, setting: Setting) -> LinearThompsonRule:
        """Nothing is known of any arm."""
        evidence = empty_evidence(setting.arms, setting.max_delay, self.bins, MASS, END)
        return LinearThompsonRule(
            reward=setting.reward,
            edges=evidence.edges,
            evidence=evidence,
            ridge=no_ridge(setting.arms, setting.features),
            scaler=new_scaler(setting.features),
        )
