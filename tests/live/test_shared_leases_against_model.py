"""Several clients of one agent with a lease in a database, against the model of a single one."""

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import initialize, rule
from tests.conformance.cases import Case
from tests.live import test_shared_against_model as shared
from tests.live.test_leases import LEASED
from tests.live.test_leases_against_model import LEASE, LeasedMachine

SHAREABLE = [case for case in LEASED if getattr(case.policy, "shareable", False)]
LISTENED = LEASE / 2e6  # seconds after which somebody must have said that time went on
pytestmark = pytest.mark.xdist_group("postgres")
quick_looks = shared.quick_looks


class SharedLeasedMachine(shared.SharedMachine, LeasedMachine):
    """Every report is made through another client than the one before."""

    settings_of_all = {"lease": LEASE / 1e6}  # noqa: RUF012  # as those of the class above

    @initialize(case=st.sampled_from(SHAREABLE))
    def begin(self, case: Case) -> None:
        """Several clients of a new agent."""
        super().begin(case)

    @rule(seconds=st.sampled_from([0.0, 0.5, 3.0, 6.0, 12.0]))
    def wait(self, seconds: float) -> None:
        """Time goes by, and a process that is in use says so: nobody's silence is overheard."""
        while seconds > 0.0:
            step = min(seconds, LISTENED)
            super().wait(step)
            self.tell_the_time()
            seconds -= step

    @rule(in_flight=st.just("keep"))
    def crash(self, in_flight: Any) -> None:
        """A client dies and another one comes: leases go on, for the others have listened."""
        super().crash(in_flight)


SharedLeasedMachine.TestCase.settings = settings(max_examples=8, stateful_step_count=25)
TestSharedLeases = SharedLeasedMachine.TestCase
