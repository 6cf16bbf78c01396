"""What is known at a time, against a naive list of plays that is searched anew at every step."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tarry.arrays import Ints
from tarry.ledger import Ledger, empty_ledger
from tarry.plays import Plays, empty_plays, steady_ages
from tarry.policies.driver import book_answer, book_start, settle
from tarry.policies.elimination.sweep import full_sweep
from tarry.policies.protocol import follow_phase
from tarry.randomness import Random, new_random
from tarry.simulation.calendar import empty_calendar


class Move(NamedTuple):
    """What happens in one step: perhaps a restart, then a play, then perhaps a sweep ends."""

    arm: int
    delay: int
    restart: bool = False
    sweep: int = 0  # the size of the sweep that ends with this play, 0 if none does


class World(NamedTuple):
    """A whole story, with the ages at which plays still out are reported."""

    arms: int
    max_delay: int
    edges: list[int]
    moves: list[Move]


@dataclass
class Listener:
    """A rule that notes what it is told."""

    edges: list[int]
    answers: list[tuple[int, int]] = field(default_factory=list)
    crossings: list[tuple[int, int]] = field(default_factory=list)
    ages: list[tuple[int, int]] = field(default_factory=list)

    def returned(self, plays: Plays, row: int, now: int, rng: Random) -> None:
        """An answer."""
        self.answers.append((int(plays.arm[row]), int(plays.delay[row])))

    def outlived(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play still out reached an edge."""
        self.crossings.append((int(plays.arm[row]), edge))

    def aged(self, plays: Plays, row: int, edge: int, now: int) -> None:
        """A play, back or not, reached an edge."""
        self.ages.append((int(plays.arm[row]), edge))


class Play(NamedTuple):
    """A play of the current phase, in the naive list."""

    start: int
    arm: int
    delay: int


def numbers(values: Ints) -> tuple[int, ...]:
    """All the numbers, for comparisons."""
    return tuple(values[k] for k in range(len(values)))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Short stories in which the boundary delays 0, 1, D - 1 and D are frequent."""
    arms = draw(st.integers(1, 4))
    most = draw(st.integers(1, 9))
    delays = st.one_of(st.integers(0, most), st.sampled_from([0, 1, most - 1, most]))
    move = st.builds(
        Move,
        arm=st.integers(0, arms - 1),
        delay=delays,
        restart=st.sampled_from([False] * 9 + [True]),
        sweep=st.one_of(st.just(0), st.integers(1, arms)),
    )
    edges = draw(st.lists(st.integers(1, most), unique=True, max_size=4))
    return World(arms, most, edges, draw(st.lists(move, min_size=1, max_size=50)))


class Story:
    """Plays a world into a ledger and, beside it, into the naive lists."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.ledger: Ledger = empty_ledger(world.arms)
        self.table = empty_plays(world.max_delay, regular=True)
        self.calendar = empty_calendar(len(self.table.number))
        self.ages = steady_ages(world.max_delay, np.array(world.edges, np.int64))
        self.sweep = full_sweep(world.arms)
        self.plays: list[Play] = []
        self.sweeps: list[tuple[int, int]] = []

    def advance(self, step: int, move: Move) -> Listener:
        """Make the play of `step` and let time reach step + 1."""
        if move.restart:
            self.ledger.restart(step)
            self.sweep.forget()
            self.plays, self.sweeps = [], []
        listener = Listener(self.world.edges)
        row = self.table.row_of(step)
        self.table.number[row] = step
        self.table.delay[row] = -1
        book_start(listener, self.ledger, self.table, row, move.arm, step)
        self.calendar.add(row, step + move.delay)
        self.plays.append(Play(step, move.arm, move.delay))
        if move.sweep:
            self.sweep.close(move.sweep, step)
            self.sweeps.append((step, move.sweep))
        row = self.calendar.tear_off(step)
        while row >= 0:
            delay = step - self.table.start[row]
            book_answer(listener, self.ledger, self.table, row, delay, step + 1, new_random(0))
            row = self.calendar.next_of[row]
        settle(listener, self.ledger, self.table, self.ages, step, step + 1)
        return listener

    def check_counts(self, now: int) -> None:
        """Every sum of the ledger is the sum over the list."""
        for arm in range(self.world.arms):
            mine = [p for p in self.plays if p.arm == arm]
            seen = [p for p in mine if p.start + p.delay < now]
            missing = [p for p in mine if p.start + p.delay >= now]
            complete = [p for p in mine if p.start <= now - self.world.max_delay]
            recent = [p for p in mine if p.start > now - self.world.max_delay]
            assert self.ledger.plays[arm] == len(mine)
            assert self.ledger.seen[arm] == len(seen)
            assert self.ledger.seen_sum[arm] == sum(p.delay for p in seen)
            assert self.ledger.missing(arm) == len(missing)
            assert self.ledger.start_sum[arm] == sum(p.start for p in missing)
            assert self.ledger.missing_age(arm, now) == sum(now - p.start for p in missing)
            assert self.ledger.complete[arm] == len(complete)
            assert self.ledger.complete_sum[arm] == sum(p.delay for p in complete)
            assert self.ledger.window(arm) == len(recent)

    def check_sweeps(self, now: int) -> None:
        """The smallest sweep that ended in the last D steps, 0 if none did."""
        since = now - self.world.max_delay
        sizes = [size for last, size in self.sweeps if last > since]
        assert self.sweep.smallest(since) == min(sizes, default=0)


D_OLD = World(
    2, 3, [3, 1], [Move(0, 0), Move(1, 3), Move(0, 3), Move(1, 0), Move(0, 2), Move(1, 3)]
)
RESTART_WITH_PLAYS_OUT = World(
    1, 2, [2], [Move(0, 2), Move(0, 2), Move(0, 2, restart=True), Move(0, 0), Move(0, 2)]
)


@given(worlds())
@example(D_OLD)
@example(RESTART_WITH_PLAYS_OUT)
def test_sums_are_those_of_a_naive_list(world: World) -> None:
    """After every step each count and sum equals what a search through all plays finds."""
    story = Story(world)
    for step, move in enumerate(world.moves, 1):
        story.advance(step, move)
        story.check_counts(step + 1)


@given(worlds())
def test_smallest_sweep_is_that_of_a_naive_list(world: World) -> None:
    """The queue of sweeps answers as a search through all sweeps of the phase does."""
    story = Story(world)
    for step, move in enumerate(world.moves, 1):
        story.advance(step, move)
        story.check_sweeps(step + 1)
        assert len(story.sweep.past) == 2 * (world.arms + 1)


@given(worlds())
@example(D_OLD)
@example(RESTART_WITH_PLAYS_OUT)
def test_rule_hears_of_every_answer_and_edge_once(world: World) -> None:
    """Answers of this phase are told, latest play first; so is each play that reaches an edge."""
    story = Story(world)
    for step, move in enumerate(world.moves, 1):
        listener = story.advance(step, move)
        now = step + 1
        arriving = [p for p in story.plays if p.start + p.delay == now - 1]
        assert listener.answers == [(p.arm, p.delay) for p in reversed(arriving)]
        assert listener.crossings == [
            (p.arm, edge)
            for edge, age in enumerate(world.edges)
            for p in story.plays
            if p.start == now - age and p.delay >= age
        ]
        assert listener.ages == [
            (p.arm, edge)
            for edge, age in enumerate(world.edges)
            for p in story.plays
            if p.start == now - age
        ]


class Phase(NamedTuple):
    """A rule that has nothing but a phase."""

    phase: list[int]


@given(worlds())
def test_the_ledger_follows_the_phase_of_a_rule(world: World) -> None:
    """It begins anew where the rule has, once, and counts the failures that the rule counts."""
    story, rule, failures = Story(world), Phase([0, 0]), 0
    for step, move in enumerate(world.moves, 1):
        if move.restart:
            rule.phase[:] = [step, rule.phase[1] + 1]
        failures = follow_phase(rule, story.ledger, failures)
        assert failures == rule.phase[1]
        assert story.ledger.phase[0] == rule.phase[0]
        if move.restart:
            assert sum(numbers(story.ledger.plays)) == 0
        story.advance(step, move._replace(restart=False))


def test_delay_of_zero_is_seen_before_the_next_step() -> None:
    """A play with delay 0 is no longer missing when the next arm is chosen."""
    story = Story(World(1, 5, [], []))
    story.advance(1, Move(0, 0))
    assert (story.ledger.seen[0], story.ledger.missing(0)) == (1, 0)


def test_delay_of_d_is_complete_one_step_before_it_is_seen() -> None:
    """At age D the payoff of a missing play can only be D: complete first, seen a step later."""
    story = Story(World(1, 2, [], []))
    story.advance(1, Move(0, 2))
    story.advance(2, Move(0, 0))
    assert (story.ledger.complete[0], story.ledger.complete_sum[0]) == (1, 2)
    assert story.ledger.missing(0) == 1
    story.advance(3, Move(0, 0))
    assert story.ledger.missing(0) == 0


def test_kept_history_counts_the_failure_alone() -> None:
    """A failure whose evidence is kept changes nothing but the number of failures."""
    story = Story(World(1, 2, [], []))
    story.advance(1, Move(0, 1))
    before = [numbers(array) for array in story.ledger]
    assert follow_phase(Phase([0, 1]), story.ledger, 0) == 1
    assert [numbers(array) for array in story.ledger] == before
