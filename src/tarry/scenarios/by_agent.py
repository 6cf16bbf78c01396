"""A policy as a router: the heart of an agent on virtual time."""

from typing import Any

from tarry.errors import PolicyError
from tarry.live.clock import to_ticks
from tarry.live.restore import new_core
from tarry.live.settings import check_horizon, check_max_delay
from tarry.policies.label import policy_label

TICKS = 1_000_000.0  # per second


class ByAgent:
    """What a live agent with this policy would choose, at the same times and with the same facts.

    It is the core of `tarry.Agent` without lock and store. Rules of tarry run as machine code from
    the first request on, which changes no choice.
    """

    def __init__(self, policy: Any, backends: int, timeout: float, horizon: int, seed: int) -> None:
        settings = {
            "arms": [str(k) for k in range(backends)],
            "payoff": "cost",
            "max_delay": check_max_delay(timeout),
            "horizon": check_horizon(policy, "cost", horizon),
            "seed": seed,
            "remembered": 0,
        }
        self.core = new_core(policy, settings).hasten()
        if self.core.promise is not None:
            self.core.promise.fulfil(aside=False)
        self.numbers: dict[int, int] = {}  # of plays, by request

    def choose(self, request: int, now: float) -> int:
        """See `tarry.scenarios.RunningRouter`."""
        ticks = round(now * TICKS)
        core = self.core
        quick = core.open.is_quick
        arm = core.decide_and_start(ticks) if quick else core.decide(ticks)
        if arm is None:
            raise PolicyError(
                f"{policy_label(core.policy)} stopped; a router must choose for every request."
            )
        self.numbers[request] = core.asked if quick else core.start(arm, ticks)
        return arm.slot

    def answered(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `tarry.scenarios.RunningRouter`."""
        self.core.tell(self.numbers.pop(request), to_ticks(latency), round(now * TICKS))

    def failed(self, request: int, backend: int, latency: float, now: float) -> None:
        """See `tarry.scenarios.RunningRouter`; what is D old is closed by the core itself."""
        number = self.numbers.pop(request)
        if latency < self.core.max_delay / TICKS:
            self.core.fail(number, round(now * TICKS))
