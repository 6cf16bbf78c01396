"""Which features of a request move an arm, in words.

What the weights of a feature add to the tilts of a request, t, has a covariance C by what is known
of the weights, and is not 0 by chance if t' C^-1 t is large; t has a steady part and one that
changes with age.

A feature that another one repeats, seconds beside minutes, adds nothing that is sure as long as
both are in the model: each could do what the other does. So those that are not sure in the full
model are tried in smaller ones, in which the weights of all that was not found yet are 0: the
surest is found, and the next one is tried beside it, until none is sure. What would do as well in
the place of one that was found, and leaves it in doubt beside it, is named with it.
"""

from collections.abc import Sequence

import numpy as np

from tarry.arrays import FloatArray
from tarry.live.core import Core
from tarry.live.request_means import Curves, moments

SHOWN = 3  # features, and names of one that has several
LEAST = 0.05  # of the mean: less is not worth a word
MOST_COLUMNS = 250  # with more only the full model is asked, and all features together
BY_CHANCE = 9.2  # chi square with two degrees of freedom, 99 %
NOTHING = "no feature of this request is known to move it"
TOGETHER = "all features together"  # none of which is sure by itself


class Model:
    """The weights of an arm, where some features may have none: N(w, P) given that theirs are 0."""

    def __init__(self, curves: Curves, groups: Sequence[slice], z: FloatArray) -> None:
        self.size, self.z = len(z), z
        self.columns = [np.arange(part.start, part.stop) for part in groups]
        many = 2 * self.size
        self.precision = np.linalg.pinv(curves.spread.reshape(many, many), hermitian=True)
        self.pull = self.precision @ curves.weights.reshape(many)

    def added(self, group: int, chosen: Sequence[int]) -> tuple[FloatArray, float]:
        """What a feature adds to the tilts beside the chosen ones, and how sure that is."""
        own = self.columns[group]
        there = [own, *(self.columns[other] for other in chosen if other != group)]
        first = np.concatenate([*there, [self.size - 1]])  # the constant term is always there
        both = np.concatenate([first, first + self.size])
        spread = np.linalg.pinv(self.precision[np.ix_(both, both)], hermitian=True)
        weights = (spread @ self.pull[both]).reshape(2, -1)[:, : len(own)]
        kept = spread.reshape(2, len(first), 2, len(first))[:, : len(own), :, : len(own)]
        tilts = weights @ self.z[own]
        return tilts, sureness(tilts, kept, self.z[own])

    def found(self, chosen: list[int]) -> list[int]:
        """Features that are sure beside the chosen ones and those found before, surest first."""
        new: list[int] = []
        while len(new) < SHOWN:
            rest = [g for g in range(len(self.columns)) if g not in chosen + new]
            sure = {g: self.added(g, chosen + new)[1] for g in rest}
            best = max(rest, key=lambda g: sure[g], default=-1)
            if best < 0 or sure[best] <= BY_CHANCE:
                break
            new.append(best)
        return new

    def instead(self, one: int, chosen: Sequence[int]) -> list[int]:
        """Features that would do as well in the place of one, and leave it in doubt beside it."""
        others = [g for g in chosen if g != one]
        return [
            g
            for g in range(len(self.columns))
            if g not in chosen
            and self.added(g, others)[1] > BY_CHANCE
            and self.added(one, [*others, g])[1] <= BY_CHANCE
        ]


def moves(core: Core, arm: int, curves: Curves, numbers: Sequence[float], z: FloatArray) -> str:
    """In words which features of a request move this arm, the strongest first.

    A feature is named if contexts are believed to matter for the arm, what it adds to the tilts of
    this request is not 0 by chance, and the mean with it differs from that of a request that is
    usual in it.
    """
    features = core.requests.features
    if not features or core.open.rule.belief[arm] <= 0.0:
        return NOTHING
    labels, groups = zip(*features.groups(numbers), strict=True)
    tilts = [curves.weights[:, part] @ z[part] for part in groups]
    sure = [
        g
        for g, part in enumerate(groups)
        if sureness(tilts[g], curves.spread[:, part, :, part], z[part]) > BY_CHANCE
    ]
    moved = {labels[g]: moved_by(curves, z, tilts[g]) for g in sure}
    if len(sure) < len(groups) and len(z) <= MOST_COLUMNS:
        model = Model(curves, groups, z)
        found = model.found(sure)
        for one in found:
            others = [g for g in sure + found if g != one]
            by = moved_by(curves, z, model.added(one, others)[0])
            like = [
                g
                for g in model.instead(one, sure + found)
                if by * moved_by(curves, z, model.added(g, others)[0]) > 0.0
            ]
            moved[" or ".join(labels[g] for g in sorted([one, *like])[:SHOWN])] = by
    if not moved and sureness(sum(tilts), curves.spread[:, :-1, :, :-1], z[:-1]) > BY_CHANCE:
        moved[TOGETHER] = moved_by(curves, z, np.sum(tilts, axis=0))
    told = sorted((label for label in moved if moved[label]), key=lambda label: -abs(moved[label]))
    words = [f"{label}: {'sooner' if moved[label] < 0 else 'later'}" for label in told[:SHOWN]]
    return ", ".join(words) or NOTHING


def sureness(tilts: FloatArray, spread: FloatArray, z: FloatArray) -> float:
    """How far what some features add to the tilts is from 0, in squared deviations."""
    doubt = np.einsum("i,aibj,j->ab", z, spread, z)
    return float(tilts @ np.linalg.pinv(doubt) @ tilts)


def moved_by(curves: Curves, z: FloatArray, tilts: FloatArray) -> float:
    """By how much the mean is longer than without these tilts; 0 if that is hardly worth a word."""
    whole = curves.weights @ z
    mean, usual = moments(curves, *np.vstack([whole, whole - tilts]).T)[0].tolist()
    return mean - usual if abs(mean - usual) >= LEAST * max(mean, usual) else 0.0
