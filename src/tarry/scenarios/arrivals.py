"""When requests come."""

import numpy as np

from tarry.arrays import FloatArray
from tarry.scenarios.scenario import Scenario


def arrival_times(scenario: Scenario, rng: np.random.Generator) -> FloatArray:
    """The times of all requests.

    Requests are made at rate 1 and time is stretched: the n-th comes when the sum of the rate up
    to then, which grows faster in a burst, has reached its place.
    """
    corners, sums = _summed_rate(scenario)
    total = sums[-1]
    if scenario.arrivals == "constant":
        places = np.arange(1, int(total) + 1, dtype=float)
    else:
        many = int(total + 10 * np.sqrt(total) + 10)
        places = np.cumsum(rng.exponential(size=many))
        places = places[places < total]
    return np.interp(places, sums, corners)


def _summed_rate(scenario: Scenario) -> tuple[FloatArray, FloatArray]:
    """Times at which the rate changes, and how many requests are to be expected by then."""
    seconds, bursts = scenario.seconds, scenario.bursts
    if bursts is None:
        return np.array([0.0, seconds]), np.array([0.0, scenario.rate * seconds])
    begins = np.arange(bursts.every, seconds, bursts.every)
    inside = np.minimum(begins + bursts.length, seconds)
    corners = np.unique(np.concatenate([[0.0, seconds], begins, inside]))
    middle = (corners[1:] + corners[:-1]) / 2
    last = np.floor(middle / bursts.every) * bursts.every
    bursting = (last > 0) & (middle - last < bursts.length)
    rates = scenario.rate * np.where(bursting, bursts.times, 1.0)
    return corners, np.concatenate([[0.0], np.cumsum(rates * np.diff(corners))])
