"""What cannot be a world that changes or has contexts is refused in one sentence."""

from typing import Any

import pytest

import tarry
from tarry.errors import InputError
from tarry.problems import (
    Law,
    changing,
    contextual,
    from_samples,
    from_table,
    log_linear,
    outage,
    segments,
)

PLAIN = tarry.problems.deterministic([2, 5], max_delay=9)
LAWS = [Law([1], [1.0]), Law([4], [1.0])]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: segments({"x": changing({1: PLAIN, 50: PLAIN})}), "without changes"),
        (lambda: contextual(LAWS, [[0.0]], 4, feature_names=["a", "b"]), "1 features were given 2"),
        (lambda: contextual(LAWS, [[0.0]], 4, context_names=["a", "b"]), "1 contexts were given 2"),
        (lambda: contextual([3, 4], [[0.0]], 4), "each must be a tarry.problems.Law"),  # type: ignore[list-item]
        (lambda: outage(PLAIN, 0, 5, 9, in_flight="maybe"), "True or False"),  # type: ignore[arg-type]
        (lambda: tarry.numeric(log="no"), "True or False"),  # type: ignore[arg-type]
        (lambda: tarry.IncrementUCB(unbounded="no"), "unbounded is 'no'; it must be True or False"),  # type: ignore[arg-type]
        (lambda: tarry.BDSE(keep_history="no"), "keep_history is 'no'"),  # type: ignore[arg-type]
        (lambda: tarry.BHSE(keep_history=1), "keep_history is 1"),  # type: ignore[arg-type]
        (lambda: tarry.CUSUMUCB(warm_up=10**20), "warm_up"),
        (lambda: tarry.SurvivalRegression(bins=10**20), "number of bins"),
        (lambda: log_linear(3, 2, 20, effect=1e308), "at most 20"),
        (lambda: from_samples([[1.0]], max_delay=9, unit=1e-320), "inf"),
        (lambda: from_table([[1.0]], [[1.0, 2.0]], max_delay=9, unit=1e-320), "inf"),
        (lambda: tarry.CUSUMUCB(explore=1), "above 0 and below 1"),
    ],
)
def test_nonsense_is_refused(make: Any, words: str) -> None:
    """And says what is wrong."""
    with pytest.raises(InputError, match=words):
        make()


def test_what_is_large_but_has_a_meaning_is_taken() -> None:
    """Weights whose sum is beyond every number, and an arm that is as slow as can be."""
    problem = contextual([*LAWS, *LAWS], [[0.0], [1.0]], 4, [1e308, 1e308])
    assert problem.weights.tolist() == [0.5, 0.5]
    slow = outage(PLAIN, 0, 5, 9, "slow", factor=1e308)
    assert slow.means_at([5]).tolist() == [[1.0, 5 / 9]]
