"""What was played before is played today: see `recorded`."""

import pytest
from tests.conformance.cases import Case
from tests.conformance.recorded import RECORDED, digests, recorded_cases


@pytest.mark.parametrize("case", recorded_cases(), ids=str)
def test_plays_as_the_first_release_did(case: Case) -> None:
    """Arms, restarts and failures of twelve seeds in fourteen worlds are those on record."""
    assert digests(case) == RECORDED[str(case)]


def test_every_record_is_compared() -> None:
    """What is on record can still be played, by the same name and settings."""
    assert {str(case) for case in recorded_cases()} == set(RECORDED)
