"""Problems from what the user has: fixed delays, distributions, probabilities, measurements."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from tarry.arrays import FloatArray, IntArray
from tarry.checks import check_positive, shortened
from tarry.errors import InputError
from tarry.problems.delays import (
    check_delays,
    check_max_delay,
    check_names,
    check_numbers,
    column_names,
)
from tarry.problems.discretise import discretise
from tarry.problems.law import Law
from tarry.problems.problem import Problem, naming_arm
from tarry.problems.recorded import empirical_law

Names = Sequence[str] | None


def deterministic(delays: Any, max_delay: int, names: Names = None) -> Problem:
    """Arms that always take the same time: one whole number from 0 to `max_delay` for each.

    >>> deterministic([50, 4000], max_delay=4000).means
    array([0.0125, 1.    ])
    """
    most = check_max_delay(max_delay)
    return build("deterministic", delays, most, names, lambda d: Law(single(d, most), [1.0]))


def from_distributions(distributions: Any, max_delay: int, names: Names = None) -> Problem:
    """Arms with delays from frozen distributions of scipy.stats, rounded half to even and clipped.

    Args:
        distributions: a list of distributions, or a dict {name: distribution}; see
            `tarry.problems.discretise` for what counts as one.
        max_delay: D, in the unit of the distributions.
        names: of the arms, if a list is given.
    """
    most = check_max_delay(max_delay)
    return build("from_distributions", distributions, most, names, lambda d: discretise(d, most))


def from_pmf(pmfs: Any, max_delay: int, names: Names = None) -> Problem:
    """Arms with given laws: a list of (values, probabilities) pairs, or a dict of them by name.

    A law may also be a dict {value: probability}.

    The values are whole numbers from 0 to `max_delay`, the probabilities sum to 1 within 1e-9.

    >>> from_pmf([([0, 10], [0.9, 0.1]), ([2], [1])], max_delay=10).mean_delays
    array([1., 2.])
    """
    most = check_max_delay(max_delay)
    return build("from_pmf", pmfs, most, names, lambda pmf: pmf_law(pmf, most))


def from_samples(
    samples: Any,
    max_delay: int,
    names: Names = None,
    *,
    unit: float | None = None,
    above: Literal["refuse", "clip"] = "refuse",
) -> Problem:
    """Arms with the laws of measured delays, each as likely as any other of its arm.

    Args:
        samples: a dict {name: delays}, a list of lists of delays, whose lengths may differ, or a
            data frame of pandas or polars with a column per arm, whose empty cells are left out.
        max_delay: D.
        names: of the arms, if a list is given.
        unit: None if the delays are whole numbers. Otherwise delay / unit is rounded half to even:
            unit=0.001 turns seconds into milliseconds, and `max_delay` is in milliseconds.
        above: what happens to a delay longer than D. "refuse": it is an error, as no such delay may
            exist. "clip": it counts as D, as if nobody had waited longer.

    >>> print(from_samples({"fra": [0.031, 0.0305], "ams": [0.02]}, max_delay=100, unit=0.001))
    from_samples: 2 arms, max_delay 100
    arm  mean delay  deviation     mean  delays
    fra        30.5        0.5   0.3050  30..31
    ams          20          0   0.2000  20
    """
    most = check_max_delay(max_delay)
    tick = None if unit is None else check_positive("unit", unit)
    if above not in ("refuse", "clip"):
        raise InputError(f"above is {shortened(above)}; it must be 'refuse' or 'clip'.")
    return build(
        "from_samples",
        columns_by_name(samples),
        most,
        names,
        lambda arm: sample_law(arm, most, tick, clip=above == "clip"),
    )


def build(maker: str, arms: Any, most: int, names: Names, law: Callable[[Any], Law]) -> Problem:
    """The problem with law(arm) for each of `arms`, a list or a dict by name."""
    if isinstance(arms, Mapping):
        if names is not None:
            raise InputError("The arms of a dict were given names; its keys are their names.")
        names, arms = list(arms), list(arms.values())
    if isinstance(arms, str) or not hasattr(arms, "__len__"):
        raise InputError(f"The arms are {shortened(arms)}; they must be a list or a dict.")
    laws = []
    for name, arm in zip(check_names(names, len(arms)), arms, strict=True):
        with naming_arm(name):
            laws.append(law(arm))
    return Problem(laws, most, names or (), label=maker)


def single(delay: Any, most: int) -> IntArray:
    """A single delay as an array of one."""
    delays = check_delays(delay, most)
    if delays.shape != ():
        raise InputError(f"The delay is {shortened(delay)}; it must be one whole number.")
    return delays.reshape(1)


def pmf_law(pmf: Any, most: int) -> Law:
    """The law of a pair (values, probabilities), or of a dict {value: probability}."""
    if isinstance(pmf, Law):
        return pmf
    pair = (list(pmf), list(pmf.values())) if isinstance(pmf, Mapping) else pmf
    try:
        values, probabilities = (check_list(*part) for part in zip(LISTS, pair, strict=True))
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"The law is {shortened(pmf)}; it must be a pair (values, probabilities)."
        ) from None
    if len(values) != len(probabilities) or not len(values):
        raise InputError(
            f"The law has {len(values)} values and {len(probabilities)} probabilities; it must "
            f"have one of each at least, and as many of the one as of the other."
        )
    return Law(check_delays(values, most), probabilities)


LISTS = ("The values", "The probabilities")


def check_list(what: str, given: Any) -> Any:
    """One of the lists of a law."""
    numbers = check_numbers(given, what)
    if numbers.ndim != 1:
        raise InputError(f"{what} are {shortened(given)}; they must be a list.")
    return numbers


def columns_by_name(samples: Any) -> Any:
    """A data frame as a dict of its columns without empty cells; anything else as it is."""
    names = column_names(samples)
    if names is None or isinstance(samples, Mapping):
        return samples
    columns = {name: check_numbers(samples[name], f"The delays of {name!r}") for name in names}
    return {name: column[~np.isnan(column)] for name, column in columns.items()}


def sample_law(sample: Any, most: int, unit: float | None, *, clip: bool) -> Law:
    """The law of some measured delays; with `clip`, what is above `most` counts as that."""
    numbers = check_numbers(sample, "The delays")
    if numbers.ndim != 1 or numbers.size == 0:
        raise InputError(f"The delays are {shortened(sample)}; they must be a list, not empty.")
    if unit is not None:
        with np.errstate(over="ignore"):  # what is infinite then is refused below
            ticks = np.rint(numbers / unit)
        return empirical_law(check_delays(clipped(ticks, most, clip=clip), most))
    whole = np.isnan(numbers) | (numbers == np.floor(numbers))
    if not whole.all():
        raise InputError(
            f"The delay {numbers[~whole].tolist()[0]!r} is not a whole number; give whole numbers, "
            "or the unit to round to, such as unit=0.001 for milliseconds from seconds."
        )
    return empirical_law(check_delays(clipped(numbers, most, clip=clip), most))


def clipped(numbers: FloatArray, most: int, *, clip: bool) -> FloatArray:
    """The numbers, those above `most` as `most`, or refused."""
    if not clip and (numbers > most).any():
        raise InputError(
            f"The delay is {numbers[numbers > most][0]:g}; delays must be whole numbers from 0 to "
            f"{most}, or longer ones count as {most} with above='clip'."
        )
    return np.minimum(numbers, most)
