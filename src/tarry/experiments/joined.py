"""Two results as one: other policies on the same worlds."""

import numpy as np

from tarry.errors import InputError
from tarry.experiments.result import Records, Result


def joined(one: Result, other: Result) -> Result:
    """The policies of both on the runs that both have, in the order given.

    Both must be of the same problems, payoff and seed; then run r met the same delays in both.
    """
    runs = min(one.runs, other.runs)
    here, there = one.first(runs), other.first(runs)
    for word in ("payoff", "seed", "problems"):
        if here.description[word] != there.description[word]:
            raise InputError(f"The results differ in {word}; they cannot be joined.")
    shared = [label for label in here.policies if label in there.policies]
    if shared:
        raise InputError(f"Both results have {shared[0]!r}; they cannot be joined.")
    policies = [*here.description["policies"], *there.description["policies"]]
    return Result(
        {**here.description, "policies": policies},
        {name: beside(here.records[name], there.records[name]) for name in here.problems},
    )


def beside(one: Records, other: Records) -> Records:
    """The records of both, one policy after the other."""
    arrays = [np.concatenate(pair) for pair in zip(one[2:], other[2:], strict=True)]
    return Records(one.steps, one.worlds, *arrays)
