"""Outages: an arm that is broken for some time, and then is what it was."""

from typing import Any, Literal

import numpy as np

from tarry.checks import check_number, check_truth, check_whole, shortened
from tarry.errors import InputError
from tarry.problems.changing import LAST_STEP, Changing, changing, cut_at_crossings, planned
from tarry.problems.changing_world import FIRST, FROM, TO
from tarry.problems.law import Law
from tarry.problems.problem import Problem

Kind = Literal["hang", "slow", "empty"]
KINDS = ("hang", "slow", "empty")


def outage(
    problem: Problem,
    arm: Any,
    first: int,
    last: int,
    kind: Kind = "hang",
    *,
    factor: float = 20.0,
    share: float = 1.0,
    in_flight: bool = False,
) -> Changing:
    """`problem`, but for an arm that is broken from step `first` to step `last`.

    Plays that start in these steps are hit, as `kind` says; those that start later are not:

    - hang: they never come back, and take D.
    - slow: they take `factor` times as long, at most D.
    - empty: they come back at once, with delay 0: for a reward nothing is worse. (For a cost
      nothing is better. That a route fails at once, at the price of D, is a matter of live use,
      where a play can be told to have failed; here the payoff of a play is the time it takes.)

    Args:
        problem: A problem with laws; one that changes may have several outages.
        arm: Its number, from 0, or its name.
        first: The first step of the outage.
        last: Its last step.
        kind: What becomes of plays.
        factor: How much longer they take, for "slow".
        share: The probability with which a play is hit.
        in_flight: Whether plays of the arm that are out when step `first` begins hang as well.
            Regret does not count that: no choice could have avoided it.

    >>> import tarry
    >>> calm = tarry.problems.deterministic([20, 50], max_delay=100, names=["fra", "ams"])
    >>> problem = outage(calm, "fra", 1000, 1999, "slow", factor=3)
    >>> problem.means_at([999, 1000, 2000]).tolist()
    [[0.2, 0.5], [0.6, 0.5], [0.2, 0.5]]
    """
    whole = problem if isinstance(problem, Changing) else changing({1: problem})
    number = arm_number(whole, arm)
    begin = check_whole("first step of the outage", first, 1, LAST_STEP)
    end = check_whole("last step of the outage", last, begin, LAST_STEP)
    if kind not in KINDS:
        words = ", ".join(repr(word) for word in KINDS)
        raise InputError(f"The kind of outage is {shortened(kind)}; it must be one of {words}.")
    factor = min(check_number("factor", factor, 1.0), float(whole.max_delay) + 1.0)
    check_truth("in_flight", in_flight)
    if not 0.0 < check_number("share", share, 0.0) <= 1.0:
        raise InputError(f"The share is {shortened(share)}; it must be above 0 and at most 1.")
    cut = split(split(whole.plan, begin), end + 1)
    laws = list(whole.block_laws)
    for row in cut:
        if begin <= row[FIRST] <= end:
            same = row[FROM] == row[TO]
            for column in (FROM, TO):
                block = laws[row[column] * whole.arms : (row[column] + 1) * whole.arms]
                block[number] = broken(block[number], kind, factor, share, whole.max_delay)
                row[column] = len(laws) // whole.arms
                laws += block
                if same:
                    row[TO] = row[FROM]
                    break
    caught = [*whole.caught.tolist(), *([[number, begin]] if in_flight and begin > 1 else [])]
    name = whole.names[number]
    label = f"outage({problem.label or 'problem'}, {name}, {begin}..{end}, {kind})"
    told = caught, whole.max_delay, whole.names, label
    return cut_at_crossings(planned(laws, cut, *told))


def split(plan: Any, step: int) -> Any:
    """The plan with a piece that begins with `step`."""
    place = int(np.searchsorted(plan[:, FIRST], step, "right"))
    row = plan[place - 1].copy()
    if row[FIRST] == step:
        return plan.copy()
    row[FIRST] = step
    return np.insert(plan, place, row, axis=0)


def broken(law: Law, kind: str, factor: float, share: float, most: int) -> Law:
    """The law of an arm during an outage."""
    if kind == "hang":
        values = np.full(len(law.values), most)
    elif kind == "slow":
        values = np.minimum(np.rint(law.values * factor), most).astype(np.int64)
    else:
        values = np.zeros(len(law.values), np.int64)
    shares = np.concatenate((share * law.probabilities, (1.0 - share) * law.probabilities))
    return Law(np.concatenate((values, law.values)), shares)


def arm_number(problem: Problem, arm: Any) -> int:
    """The number of an arm that is given by number or name."""
    if isinstance(arm, str):
        if arm not in problem.names:
            raise InputError(f"There is no arm {arm!r}; the arms are {', '.join(problem.names)}.")
        return list(problem.names).index(arm)
    return check_whole("arm", arm, 0, problem.arms - 1)
