"""A problem: the arms with their delay laws, the largest delay D, and everything exact about it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.checks import check_payoff, check_whole, shortened
from tarry.errors import InputError
from tarry.problems.alias import cells_of
from tarry.problems.delays import check_max_delay, check_names
from tarry.problems.law import Law
from tarry.problems.world import World, draw_delays, seed_words
from tarry.tables import aligned

Payoff = Literal["cost", "reward"]
ROWS_SHOWN = 12


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Arms that answer after a random delay from 0 to D; the payoff of a play is delay / D.

    Args:
        laws: the delay law of each arm.
        max_delay: D, the largest delay, a whole number from 1 to 2**31 - 2.
        names: one name per arm, all different; by default "0", "1", and so on.
        label: how the problem was made, for people to read; equality does not look at it.
        family: the same without the seed, where the problem was drawn from a family by a seed.

    A problem never changes. Two problems with the same laws, D and names are equal.

    >>> problem = Problem([Law([0, 8], [0.5, 0.5]), Law([2], [1.0])], 8, names=["fra", "ams"])
    >>> problem.means
    array([0.5 , 0.25])
    >>> problem.best("cost"), problem.gaps("cost")
    (1, array([0.25, 0.  ]))
    >>> print(problem)
    2 arms, max_delay 8
    arm  mean delay  deviation     mean  delays
    fra           4          4   0.5000  0..8 (2 values)
    ams           2          0   0.2500  2
    """

    laws: Sequence[Law]
    max_delay: int
    names: Sequence[str] = ()
    label: str = ""
    family: str = ""

    def __post_init__(self) -> None:
        laws = tuple(self.laws)
        most = check_max_delay(self.max_delay)
        if not laws:
            raise InputError("The problem has 0 arms; it must have at least 1.")
        if not isinstance(self.label, str):
            raise InputError(f"The label is {shortened(self.label)}; it must be a string.")
        names = check_names(self.names, len(laws))
        for name, law in zip(names, laws, strict=True):
            if not isinstance(law, Law):
                raise InputError(f"Arm {name!r} is {shortened(law)}; it must be a Law.")
            if law.values[-1] > most:
                raise InputError(
                    f"A delay of arm {name!r} is {law.values[-1]}; it must be at most the "
                    f"max_delay {most}."
                )
        for field, value in (("laws", laws), ("max_delay", most), ("names", names)):
            object.__setattr__(self, field, value)

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return len(self.laws)

    @property
    def horizon_limit(self) -> int | None:
        """The largest horizon that can be played, or None if there is none."""
        return None

    @cached_property
    def means(self) -> FloatArray:
        """mu(i) = E[d] / D of each arm, in [0, 1]; exact, not an estimate."""
        return frozen(self.mean_delays / self.max_delay)

    @cached_property
    def mean_delays(self) -> FloatArray:
        """d(i) = E[d] of each arm."""
        return frozen(np.array([law.mean for law in self.laws]))

    def best(self, payoff: Payoff) -> int:
        """The arm with the least mean (cost) or the greatest (reward); of equals the first."""
        reward = check_payoff(payoff)
        return int(np.argmax(self.means) if reward else np.argmin(self.means))

    def gaps(self, payoff: Payoff) -> FloatArray:
        """Delta(i) = |mu(i) - mu*| of each arm, what a play of it adds to the regret."""
        return np.abs(self.means - self.means[self.best(payoff)])

    @property
    def features(self) -> FloatArray:
        """What is known of a request, a row for each context: here one, of which nothing is."""
        return np.zeros((1, 0))

    def context_gaps(self, payoff: Payoff) -> FloatArray:
        """Delta(n, i): what a play of arm i in context n adds to the regret, (contexts, arms)."""
        return self.gaps(payoff).reshape(1, -1)

    @property
    def changes(self) -> IntArray:
        """The steps at which laws change: none, unless a problem says so."""
        return np.zeros(0, np.int64)

    def regret_rates(self, payoff: Payoff) -> FloatArray:
        """What a play adds to the regret, in the form that the world of this problem reads."""
        return self.context_gaps(payoff).ravel()

    def contexts(self, seed: int, steps: Any) -> IntArray:
        """The contexts of `steps` (from 1) under a seed: rows of `features`, all 0 if it is one."""
        check_whole("seed", seed, 0)
        chosen = indices(steps, "steps", 1, self.horizon_limit or 2**62)
        return self._states(seed, chosen.reshape(-1)).reshape(chosen.shape)

    def _states(self, seed: int, steps: IntArray) -> IntArray:
        """The contexts of steps: one, or those of a world in which laws depend on more."""
        return np.zeros_like(steps)

    def survival(self, arm: int, x: Any) -> Any:
        """P(d >= x) for the delay d of an arm; x is a number or an array."""
        return self.laws[check_whole("arm", arm, 0, self.arms - 1)].survival(x)

    @cached_property
    def _cells(self) -> tuple[IntArray, IntArray]:
        """The alias cells of all arms, one after another, and where each arm's begin."""
        return cells_of(self.laws)

    def world(self, seed: int = 0) -> Any:
        """The delays of this problem under a seed, in the form the simulator reads: `AnyWorld`."""
        return self._laws_under(seed)

    def _laws_under(self, seed: int) -> World:
        """Delays of the arms; of the virtual arms, where laws depend on more."""
        key0, key1 = seed_words(check_whole("seed", seed, 0))
        cells, offsets = self._cells
        return World(cells, offsets, np.zeros((0, 0), dtype=np.int32), key0, key1)

    def delays(self, seed: int, steps: Any, arms: Any) -> IntArray:
        """The delays of plays of `arms` in `steps` (from 1), two arrays or numbers that broadcast.

        Each equals `world(seed).delay(step, arm)`: it depends on nothing else that was played.
        """
        most = self.horizon_limit or 2**62
        pair = indices(steps, "steps", 1, most), indices(arms, "arms", 0, self.arms - 1)
        try:
            plays = np.broadcast_arrays(*pair)
        except ValueError:
            raise InputError(
                f"Steps of shape {pair[0].shape} were given arms of shape {pair[1].shape}; "
                "the shapes must be the same or broadcast."
            ) from None
        times, played = (np.atleast_1d(array).ravel() for array in plays)
        virtual = self._states(seed, times) * self.arms + played
        return draw_delays(self._laws_under(seed), times, virtual).reshape(plays[0].shape)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the problem to a small file, which `tarry.problems.load` reads back."""
        from tarry.problems.problem_file import save

        save(self, path)

    def _content(self) -> tuple[Any, ...]:
        """What equality and the hash look at."""
        return type(self), self.max_delay, self.names, self.laws

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Problem):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def __reduce__(self) -> tuple[Any, ...]:
        return Problem, (self.laws, self.max_delay, self.names, self.label, self.family)

    def __repr__(self) -> str:
        what = f"{self.label}: " if self.label else ""
        return f"<Problem {what}{self._size()}>"

    def _size(self) -> str:
        return f"{self.arms} {'arm' if self.arms == 1 else 'arms'}, max_delay {self.max_delay}"

    def __str__(self) -> str:
        title = f"{self.label}: {self._size()}" if self.label else self._size()
        return "\n".join([title, *table_lines(self)])


def frozen(array: FloatArray) -> FloatArray:
    """`array`, made read-only."""
    array.setflags(write=False)
    return array


def indices(numbers: Any, name: str, least: int, most: int) -> IntArray:
    """`numbers` as an int64 array, refused unless each is a whole number in the range."""
    array = np.asarray(numbers)
    if array.dtype.kind not in "iu" and array.size:
        raise InputError(f"The {name} are {shortened(numbers)}; they must be whole numbers.")
    if array.size and not (array.min() >= least and array.max() <= most):
        bad = array[(array < least) | (array > most)][0]
        raise InputError(f"One of the {name} is {bad}; each must be from {least} to {most}.")
    return array.astype(np.int64)


@contextmanager
def naming_arm(name: str) -> Iterator[None]:
    """Let the message of an InputError say which arm it is about."""
    try:
        yield
    except InputError as error:
        message = str(error)
        raise type(error)(f"Arm {name!r}: {message[0].lower()}{message[1:]}") from error


def table_lines(problem: Problem) -> list[str]:
    """A table of the arms, the middle ones left out if there are many."""
    shown: Sequence[int] = range(problem.arms)
    if problem.arms > ROWS_SHOWN:
        shown = [*range(ROWS_SHOWN - 2), problem.arms - 1]
    cells = [["arm", "mean delay", "deviation", "   mean", "delays"]]
    for arm in shown:
        law = problem.laws[arm]
        numbers = f"{law.mean:.6g}", f"{law.variance**0.5:.4g}", f"{problem.means[arm]:.4f}"
        cells.append([problem.names[arm], *numbers, support_text(law)])
    lines = list(aligned(cells, left=(0, 4)))
    if len(shown) < problem.arms:
        lines.insert(-1, f"... {problem.arms - len(shown)} more arms ...")
    return lines


def support_text(law: Law) -> str:
    """The support of a law in a few words."""
    low, high, count = int(law.values[0]), int(law.values[-1]), len(law.values)
    if count == 1:
        return str(low)
    if count == high - low + 1:
        return f"{low}..{high}"
    return f"{low}..{high} ({count} values)"
