"""Worlds: delay laws, families of problems, the hard instances of the paper, replayed tables."""

from tarry.problems.files import load
from tarry.problems.law import Law
from tarry.problems.problem import Problem
from tarry.problems.replay import Replay, replay
from tarry.problems.world import World, philox

__all__ = ["Law", "Problem", "Replay", "World", "load", "philox", "replay"]
