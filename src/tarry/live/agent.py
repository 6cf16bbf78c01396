"""`Agent`: a policy in live use, asked for choices and told of answers, on wall-clock time."""

import secrets
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from tarry.checks import as_whole, check_whole
from tarry.errors import InputError, JournalError, LiveError
from tarry.live import state
from tarry.live.clock import Clock, Ticker, as_clock, to_seconds
from tarry.live.core import REMEMBERED, unknown_play
from tarry.live.events import apply, new_core, restored
from tarry.live.explain import Explanation, explanation
from tarry.live.plays import Counts, Play, Told
from tarry.live.settings import (
    check_delay,
    check_horizon,
    check_max_delay,
    check_names,
    check_same,
    default_policy,
)
from tarry.live.store.sqlite import (
    ADD,
    ASK,
    CANCEL,
    FAIL,
    PAUSE,
    REMOVE,
    RESUME,
    TELL,
    Durability,
    Event,
    Journal,
)
from tarry.live.timed import TimedPlay
from tarry.policies.check import check_choice
from tarry.policies.label import policy_label
from tarry.policies.protocol import Policy


class Agent:
    """Chooses an arm each time it is asked, and learns from what it is told and from waiting.

    Args:
        policy: Settings of a decision rule; `tarry.SurvivalThompson()` by default.
        arms: Names of the arms. May be left out when a journal is opened again.
        payoff: "cost" (short delays are good) or "reward" (long delays are good).
        max_delay: D in seconds. A play still out at this age is closed with delay D.
        path: A file for the journal. With it, every ask and every tell is on disk before it is
            answered, and an agent made with the same path goes on where the last one stopped.
        seed: For the policy's own randomness; drawn afresh if left out.
        clock: A `Clock`, or a function that returns seconds; the machine's clocks by default.
        horizon: T, the number of plays expected in all; needed by policies that use log T.
        durability: "full" survives a power failure (one fsync per commit); "normal" survives the
            end of the process, however sudden, but a power failure may cost the latest events.
        in_flight: What becomes of plays that were out when the last agent on this file stopped:
            "censor" them at the last moment known, or "keep" them, if answers may still come.
        remembered: How many ended plays are remembered, so that a repeated tell is recognised.

    >>> from tarry.live import Agent, ManualClock
    >>> clock = ManualClock()
    >>> agent = Agent(arms=["fra", "ams"], payoff="cost", max_delay=2.0, seed=1, clock=clock)
    >>> play = agent.ask()
    >>> clock.advance(0.113)
    >>> agent.tell(play.id)
    <Told.RETURNED: 'returned'>
    >>> agent.counts.returned
    1
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        arms: Sequence[str] | None = None,
        payoff: str,
        max_delay: float,
        path: str | Path | None = None,
        seed: int | None = None,
        clock: Clock | Callable[[], float] | None = None,
        horizon: int | None = None,
        durability: Durability = "full",
        in_flight: Literal["censor", "keep"] = "censor",
        remembered: int = REMEMBERED,
    ) -> None:
        self.policy = default_policy() if policy is None else policy
        self.payoff = payoff
        self.path = None if path is None else Path(path)
        check_choice("durability", durability, ("full", "normal"))
        check_choice("in_flight", in_flight, ("censor", "keep"))
        given = {
            "policy": policy_label(self.policy),
            "payoff": payoff,
            "max_delay": check_max_delay(max_delay),
            "horizon": check_horizon(self.policy, payoff, horizon),
        }
        names = None if arms is None else check_names(arms)
        if seed is not None:
            seed = check_whole("seed", seed, 0, 2**64 - 1)
        remembered = check_whole("number of plays remembered", remembered, 0)
        self._clock = as_clock(clock)
        self._lock = threading.Lock()
        self._journal: Journal | None = None
        self._closed = False

        def fresh() -> dict[str, Any]:
            if names is None:
                raise InputError("No arms are given; a new agent needs arms=[...], their names.")
            own = secrets.randbits(64) if seed is None else seed
            more = {"arms": names, "seed": own, "remembered": remembered}
            return given | more | {"created": self._clock.utc()}

        if self.path is None:
            settings = fresh()
            self._core = new_core(self.policy, settings)
        else:
            self._journal = Journal(self.path, fresh, durability)
            settings = self._journal.settings
            try:
                check_same(self.path, settings, given, seed)
                self._core = restored(self.policy, self._journal)
                self._check_arms(names)
            except BaseException:
                self._journal.close()
                raise
        self._ticker = Ticker(self._clock, settings["created"], self._core.now)
        if self._journal is not None and in_flight == "censor":
            self._censor_all()

    def ask(self) -> Play:
        """Choose an arm and start a play of it; on disk before it is returned."""
        play, seq = self._ask()
        self._flush(seq)
        return play

    def tell(self, play: Play | int, delay: float | None = None) -> Told:
        """The play came back just now, or took `delay` seconds; returns what became of that.

        `play` is what `ask` returned, or its id.

        A repeated tell changes nothing and returns `Told.REPEATED`; one with another delay is
        refused. A tell after the play was closed at D or cancelled is stored and counted as
        `Told.LATE` and does not move the statistics. A delay above D counts as D.
        """
        told, seq = self._tell(self._number(play), check_delay(delay))
        self._flush(seq)
        return told

    def fail(self, play: Play | int) -> Told:
        """The play ended in failure: booked with the worst payoff, D as a cost, 0 as a reward."""
        told, seq = self._end(FAIL, self._number(play))
        self._flush(seq)
        return told if isinstance(told, Told) else Told.REPEATED

    def cancel(self, play: Play | int) -> bool:
        """Nobody watches this play any longer; tells whether it was still out.

        It counts as what it is: a play that takes longer than its age. See the documentation of
        live use for what each kind of policy makes of that.
        """
        was_out, seq = self._end(CANCEL, self._number(play))
        self._flush(seq)
        return bool(was_out)

    def play(self) -> TimedPlay:
        """A block that is a play: `with agent.play() as arm:`, or `async with`.

        The block is timed. An exception in it is booked with the worst payoff; if the block is
        given up from outside (a task cancelled, Ctrl-C), the play is cancelled.
        """
        return TimedPlay(self)

    def add_arm(self, name: str) -> None:
        """A new arm, which can be chosen from now on."""
        self._change(ADD, name)

    def remove_arm(self, name: str) -> None:
        """Take an arm out for good; answers of its plays are still accepted and change nothing."""
        self._change(REMOVE, name)

    def pause_arm(self, name: str) -> None:
        """Do not choose this arm until it is resumed; what its plays bring still counts."""
        self._change(PAUSE, name)

    def resume_arm(self, name: str) -> None:
        """Choose among this arm and the others again."""
        self._change(RESUME, name)

    def stopwatch(self) -> Callable[[], float]:
        """A function that returns the seconds since now on the agent's clock, for `tell`."""
        begin = self._clock.monotonic()
        return lambda: max(self._clock.monotonic() - begin, 0.0)

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms, paused ones included."""
        with self._lock:
            return tuple(self._core.arms)

    @property
    def max_delay(self) -> float:
        """D in seconds."""
        return to_seconds(self._core.max_delay)

    @property
    def counts(self) -> Counts:
        """How many plays were asked, returned, are pending, closed at D, cancelled, and so on."""
        with self._lock:
            return self._core.counts(self._ticker.now())

    def explain(self) -> Explanation:
        """What is known of each arm, and why it is or is not chosen; prints as a table."""
        with self._lock:
            return explanation(self._core, self._ticker.now())

    def close(self) -> None:
        """Let go of the journal; plays still out stay out."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._journal is not None:
                try:
                    self._journal.take_snapshot(state.dump(self._core))
                finally:
                    self._journal.close()

    def __enter__(self) -> Self:
        """The agent itself; it is closed at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def __repr__(self) -> str:
        """A line a person can read."""
        where = f", journal {str(self.path)!r}" if self.path else ""
        return (
            f"<Agent of {policy_label(self.policy)}, {self.payoff}, arms {', '.join(self.arms)}"
            f"{where}: {self.counts.asked} plays>"
        )

    def _number(self, number: Any) -> int:
        """The id of a play, or an id, as a plain number, which a journal can keep."""
        if isinstance(number, Play):
            number = number.id
        whole = as_whole(number)
        if whole is None:
            raise unknown_play(number, self._core.asked)
        return whole

    def _ask(self) -> tuple[Play, int]:
        """A play, and the number of its event in the journal, 0 without one."""
        with self._lock:
            self._check_open()
            now = self._ticker.now()
            entry = self._core.ask(now)
            seq = 0
            if self._journal is not None:
                slot = -1 if entry is None else entry.arm.slot
                seq = self._append(Event(ASK, now, slot))
            if entry is not None:
                return Play(entry.id, entry.arm.name, self._ticker.utc(now)), seq
        raise LiveError(
            f"{policy_label(self.policy)} has stopped: its threshold is met by no arm; use BDSE "
            f"(cost) or BHSE (reward), which go on with another threshold."
        )

    def _tell(self, number: int, delay: int | None) -> tuple[Told, int]:
        with self._lock:
            self._check_open()
            now = self._ticker.now()
            told = self._core.tell(number, delay, now)
            if told in (Told.RETURNED, Told.LATE):
                return told, self._append(Event(TELL, now, number, delay))
            return told, self._known()  # the first answer may still be on its way to the disk

    def _end(self, kind: int, number: int) -> tuple[Told | bool, int]:
        with self._lock:
            self._check_open()
            now = self._ticker.now()
            still_out = self._core.find(number) is not None and number in self._core.out
            outcome = apply(self._core, Event(kind, now, number))
            if still_out or outcome is Told.LATE:
                return outcome, self._append(Event(kind, now, number))
            return outcome, self._known()

    def _change(self, kind: int, name: str) -> None:
        with self._lock:
            self._check_open()
            if kind == ADD:
                check_names([name])
            event = Event(kind, self._ticker.now(), name=name)
            apply(self._core, event)
            seq = self._append(event)
        self._flush(seq)

    def _append(self, event: Event) -> int:
        if self._journal is None:
            return 0
        seq = self._journal.append(event)
        if self._journal.due(len(self._core.entries)):
            self._journal.take_snapshot(state.dump(self._core))
        return seq

    def _known(self) -> int:
        """The number of the latest event, 0 without a journal."""
        return 0 if self._journal is None else self._journal.appended

    def _flush(self, seq: int) -> None:
        if seq and self._journal is not None:
            self._journal.flush(seq)

    def _check_open(self) -> None:
        if self._closed:
            raise LiveError("The agent is closed; make a new one, with the same path to go on.")

    def _check_arms(self, names: list[str] | None) -> None:
        here = list(self._core.arms)
        if names is not None and sorted(names) != sorted(here):
            raise JournalError(
                f"The journal {self.path} has the arms {', '.join(here)}, but {', '.join(names)} "
                f"are given; leave arms out and use add_arm and remove_arm."
            )

    def _censor_all(self) -> None:
        """Plays out when the last process stopped are cancelled at the last moment known."""
        seq = 0
        last = self._core.now
        for number in list(self._core.out):
            self._core.cancel(number, last)
            seq = self._append(Event(CANCEL, last, number))
        self._flush(seq)
