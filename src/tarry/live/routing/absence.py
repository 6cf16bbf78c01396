"""Arms that are left out for a while: a server asked to be left alone, or has just failed."""

import threading
from math import inf

from tarry.live.agent import Agent
from tarry.live.plays import Play


class Absences:
    """Pauses arms of an agent, and resumes them by itself when a request comes after their time.

    An arm that somebody else paused is none of its business, and one arm always stays open: if
    all have to rest, the one whose rest ends first goes on.
    """

    def __init__(self, agent: Agent, longest: float) -> None:
        self._agent = agent
        self._longest = longest
        self._now = agent.stopwatch()
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    @property
    def resting(self) -> tuple[str, ...]:
        """The arms that are paused until later."""
        return tuple(self._until)

    def due(self) -> bool:
        """Whether the rest of some arm is over."""
        return bool(self._until) and min(list(self._until.values()), default=inf) <= self._now()

    def rest(self, arm: str, seconds: float) -> bool:
        """Leave `arm` out for so long, `longest` at most; whether it was not resting before."""
        until = self._now() + min(seconds, self._longest)
        with self._lock:
            if arm in self._until:
                self._until[arm] = max(until, self._until[arm])
                return False
            open_arms = self._open()
            if arm not in open_arms:
                return False
            if open_arms == {arm}:
                first = min(self._until, key=self._until.__getitem__, default=arm)
                if first == arm or self._until[first] >= until:
                    return False
                self._resume(first)
            self._agent.pause_arm(arm)
            self._until[arm] = until
            return True

    def wake(self, *, everything: bool = False) -> None:
        """Resume the arms whose rest is over, or all of them."""
        with self._lock:
            now = self._now()
            for arm in [a for a, until in self._until.items() if everything or until <= now]:
                self._resume(arm)

    def ask_without(self, tried: tuple[str, ...]) -> Play | None:
        """A play of an arm that was not tried; None if no other is open."""
        with self._lock:
            open_arms = self._open()
            left_out = [arm for arm in tried if arm in open_arms]
            if len(left_out) == len(open_arms):
                return None
            paused = []
            try:
                for arm in left_out:
                    self._agent.pause_arm(arm)
                    paused.append(arm)
                return self._agent.ask()
            finally:
                for arm in paused:
                    self._agent.resume_arm(arm)

    def _open(self) -> set[str]:
        return {row.arm for row in self._agent.explain().arms if not row.paused}

    def _resume(self, arm: str) -> None:
        del self._until[arm]
        if arm in self._agent.arms:
            self._agent.resume_arm(arm)


def resume_all(agent: Agent) -> None:
    """Resume every arm: the rests of a process that was killed have nobody who would end them."""
    for row in agent.explain().arms:
        if row.paused:
            agent.resume_arm(row.arm)
