"""The same policies on wall-clock time: agent, clock, durable journal."""

from tarry.live.agent import Agent
from tarry.live.clock import Clock, ManualClock, SystemClock
from tarry.live.explain import ArmReport, Explanation
from tarry.live.plays import Counts, Play, Told
from tarry.live.store.recovery import Recovered, recover
from tarry.live.timed import ActivePlay, TimedPlay

__all__ = [
    "ActivePlay",
    "Agent",
    "ArmReport",
    "Clock",
    "Counts",
    "Explanation",
    "ManualClock",
    "Play",
    "Recovered",
    "SystemClock",
    "TimedPlay",
    "Told",
    "recover",
]
