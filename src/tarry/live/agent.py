"""`Agent`: a policy in live use, asked for choices and told of answers, on wall-clock time."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from tarry.checks import check_shown, shortened
from tarry.errors import InputError, JournalError
from tarry.live.clock import Clock, to_seconds
from tarry.live.core import REMEMBERED, Core
from tarry.live.explain import Explanation, explanation
from tarry.live.facts import ADD, CANCEL, FAIL, PAUSE, REMOVE, REPORT, RESUME, RETURN
from tarry.live.history import KEPT, all_ended, as_log
from tarry.live.plays import Counts, Play, Told
from tarry.live.settings import Given, check_delay, check_names
from tarry.live.start import started
from tarry.live.store.place import check_path
from tarry.live.timed import ActivePlay, TimedPlay
from tarry.live.waiting import durable
from tarry.policies.label import policy_label
from tarry.policies.protocol import Policy

if TYPE_CHECKING:
    from tarry.logs.log import Log


class Agent:
    """Chooses an arm each time it is asked, and learns from what it is told and from waiting.

    Args:
        policy: Settings of a decision rule; `tarry.SurvivalThompson()` by default.
        arms: Names of the arms. May be left out when a journal is opened again.
        payoff: "cost" (short delays are good) or "reward" (long delays are good).
        max_delay: D in seconds. A play still out at this age is closed with delay D.
        path: A file for the journal. With it, every ask and every tell is on disk before it is
            answered, and an agent made with the same path goes on where the last one stopped. Or
            the address of a PostgreSQL database, "postgresql://user@host/db", in which any number
            of processes share the agent.
        seed: For the policy's own randomness; drawn afresh if left out.
        clock: A `Clock`, or a function that returns seconds; the machine's clocks by default. An
            agent in a database goes by the clock of the database.
        horizon: T, the number of plays expected in all; needed by policies that use log T.
        durability: "full" survives a power failure (one fsync per commit); "normal" survives the
            end of the process, however sudden, but a power failure may cost the latest events.
        in_flight: What becomes of plays that were out when the last agent on this file stopped:
            "censor" them at the last moment known (the default), or "keep" them, if answers may
            still come. With a lease they go on, and their leases begin anew.
        remembered: How many ended plays are remembered, so that a repeated tell is recognised.
        history: How many ended plays are kept for `history()`, and for making evidence anew.
        features: What is known of a request, {name: kind}: a list of texts for one of a few,
            float, `tarry.numeric(log=True)`, with `curve=True` or `missing=-9999`, or
            `tarry.cyclic(24)`.
            With them the default policy is `tarry.SurvivalRegression()`.
        on_store_failure: What to do when the file cannot be written: "raise" an error, or
            "continue" from memory and write what is missing as soon as that is possible.
        name: By which processes know the agent that they share in a database.
        lease: Seconds. With a lease the age of a play is what `alive` last reported, not measured:
            time on a page, say. A play not heard of for so long has vanished.
        heartbeat: Seconds between two reports of a play; a third of the lease by default. A play
            that vanished ended within a heartbeat after its last report.

    >>> from tarry.live import Agent, ManualClock
    >>> clock = ManualClock()
    >>> agent = Agent(arms=["fra", "ams"], payoff="cost", max_delay=2.0, seed=1, clock=clock)
    >>> play = agent.ask()
    >>> clock.advance(0.113)
    >>> agent.tell(play)
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
        durability: Literal["full", "normal"] = "full",
        in_flight: Literal["censor", "keep"] | None = None,
        remembered: int = REMEMBERED,
        history: int = KEPT,
        features: Mapping[str, Any] | None = None,
        on_store_failure: Literal["raise", "continue"] = "raise",
        name: str | None = None,
        lease: float | None = None,
        heartbeat: float | None = None,
    ) -> None:
        given = Given(
            policy=policy,
            arms=arms,
            payoff=payoff,
            max_delay=max_delay,
            path=path,
            seed=seed,
            clock=clock,
            horizon=horizon,
            durability=durability,
            in_flight=in_flight,
            remembered=remembered,
            history=history,
            features=features,
            on_store_failure=on_store_failure,
            name=name,
            lease=lease,
            heartbeat=heartbeat,
        )
        self._engine = started(given)
        self.policy = given.policy
        self.payoff = payoff
        self.path = given.shown_path
        self._clock = given.clock
        self._insist = on_store_failure == "raise"
        self._unwritten: tuple[tuple[int, str] | None, int] = None, 0  # a change of arms, its fact
        self._most = self._engine.store.settings.get("history", given.history)

    def ask(self, context: Mapping[str, Any] | None = None, *, key: str | None = None) -> Play:
        """Choose an arm and start a play of it; on disk before it is returned.

        `context` is what is known of the request, by the names of the agent's features. A value
        may be missing, or one that no list has: both are counted, and taken for the usual one.

        `key` is a name of your own for the request: who asks again with it, after a failure, say,
        gets the same play, as long as that is remembered.
        """
        if self.path is None:
            return self._engine.ask(context, key)[0]
        play, seq = self._ask(context, key)
        try:
            self._flush(seq)
        except BaseException:
            if key is None:  # who has a key may ask again
                self._give_up(play)
            raise
        return play if key is None else self._engine.chosen(play, seq)

    def tell(self, play: Play | ActivePlay | int, delay: float | None = None) -> Told:
        """The play came back just now, or took `delay` seconds; returns what became of that.

        `play` is what `ask` returned, or its id.

        A repeated tell changes nothing and returns `Told.REPEATED`; one with another delay is
        refused. A tell after the play was closed at D or cancelled is stored and counted as
        `Told.LATE` and does not move the statistics. A delay above D counts as D.
        """
        engine = self._engine
        ticks = None if delay is None else check_delay(delay)
        told, seq = engine.end(RETURN, engine.number_of(play), ticks)
        if self.path is not None:
            self._flush(seq)
            told = engine.outcome(told, seq, RETURN)
        return told if isinstance(told, Told) else Told.REPEATED

    def fail(self, play: Play | ActivePlay | int) -> Told:
        """The play ended in failure: booked with the worst payoff, D as a cost, 0 as a reward."""
        told, seq = self._end(FAIL, play)
        self._flush(seq)
        told = self._engine.outcome(told, seq, FAIL)
        return told if isinstance(told, Told) else Told.REPEATED

    def cancel(self, play: Play | ActivePlay | int) -> bool:
        """Nobody watches this play any longer; tells whether it was still out.

        It counts as what it is: a play that takes longer than its age. See the documentation of
        live use for what each kind of policy makes of that.
        """
        was_out, seq = self._end(CANCEL, play)
        self._flush(seq)
        return bool(self._engine.outcome(was_out, seq, CANCEL))

    def alive(self, play: Play | ActivePlay | int, seconds: float) -> bool:
        """The play has lasted at least `seconds` in all, and goes on; whether it is still out.

        Only with a lease, which begins anew. The largest report wins, so that repeats and reports
        in another order do no harm. One of D or more closes the play at D. Of a play that has
        ended, or whose lease ran out before, a report changes nothing: nobody need go on reporting.
        """
        out, seq = self._end(REPORT, play, check_delay(seconds, "time reported"))
        self._flush(seq)
        return bool(self._engine.outcome(out, seq, REPORT))

    async def ask_async(
        self, context: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> Play:
        """As `ask`; the event loop, of asyncio or trio, goes on while the disk is written."""
        play, seq = self._ask(context, key)
        try:
            await self._flush_async(seq)
        except BaseException:  # nobody waits for the choice any longer
            if key is None:
                self._give_up(play)
            raise
        return play if key is None else self._engine.chosen(play, seq)

    async def tell_async(self, play: Play | ActivePlay | int, delay: float | None = None) -> Told:
        """As `tell`; the event loop goes on while the disk is written."""
        told, seq = self._end(RETURN, play, None if delay is None else check_delay(delay))
        await self._flush_async(seq)
        told = self._engine.outcome(told, seq, RETURN)
        return told if isinstance(told, Told) else Told.REPEATED

    async def fail_async(self, play: Play | ActivePlay | int) -> Told:
        """As `fail`; the event loop goes on while the disk is written."""
        told, seq = self._end(FAIL, play)
        await self._flush_async(seq)
        told = self._engine.outcome(told, seq, FAIL)
        return told if isinstance(told, Told) else Told.REPEATED

    async def cancel_async(self, play: Play | ActivePlay | int) -> bool:
        """As `cancel`; the event loop goes on while the disk is written."""
        was_out, seq = self._end(CANCEL, play)
        await self._flush_async(seq)
        return bool(self._engine.outcome(was_out, seq, CANCEL))

    async def alive_async(self, play: Play | ActivePlay | int, seconds: float) -> bool:
        """As `alive`; the event loop goes on while the disk is written."""
        out, seq = self._end(REPORT, play, check_delay(seconds, "time reported"))
        await self._flush_async(seq)
        return bool(self._engine.outcome(out, seq, REPORT))

    def play(self, context: Mapping[str, Any] | None = None) -> TimedPlay:
        """A block that is a play: `with agent.play() as play:`, or `async with`.

        What it gives is the name of the arm, with `.id`, `.tell(delay)`, `.fail()` and `.cancel()`.
        The block is timed. An exception in it is booked with the worst payoff; if the block is
        given up from outside (a task cancelled, Ctrl-C), the play is cancelled.
        """
        return TimedPlay(self, context)

    def add_arm(self, name: str) -> None:
        """A new arm, which can be chosen from now on."""
        check_shown(check_names([name]))
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
        return self._engine.look(lambda core, _: tuple(core.arms))

    @property
    def paused(self) -> tuple[str, ...]:
        """The names of the arms that are paused."""
        return self._engine.look(
            lambda core, _: tuple(arm.name for arm in core.arms.values() if arm.paused)
        )

    @property
    def max_delay(self) -> float:
        """D in seconds."""
        return to_seconds(self._engine.store.settings["max_delay"])

    @property
    def lease(self) -> float | None:
        """The lease in seconds, None if ages are measured."""
        lease = self._engine.store.settings.get("lease")
        return None if lease is None else to_seconds(lease[0])

    @property
    def heartbeat(self) -> float | None:
        """Seconds between two reports of a play, None if ages are measured."""
        lease = self._engine.store.settings.get("lease")
        return None if lease is None else to_seconds(lease[1])

    @property
    def counts(self) -> Counts:
        """How many plays were asked, returned, are pending, closed at D, cancelled, and so on.

        What was not normal has counters of its own: see `tarry.live.plays.Odd`.
        """
        return self._engine.counts()

    @property
    def made_with(self) -> dict[str, Any]:
        """The settings of the agent as its store keeps them; times are in microseconds."""
        return dict(self._engine.store.settings)

    @property
    def trouble(self) -> str:
        """Why facts cannot be made durable just now; empty if they can."""
        return self._engine.store.trouble

    def explain(self, context: Mapping[str, Any] | None = None) -> Explanation:
        """What is known of each arm, and why it is or is not chosen; prints as a table.

        With a context: means and intervals for such a request, and which features move which arm;
        SurvivalRegression knows them, other policies keep no effects. Without one, the mean
        of an arm of an agent with features is over the requests that it was chosen for; such means
        do not compare arms, and none is called the best.
        """
        if context is None:
            return self._engine.look(explanation)
        from tarry.live.explain_request import explained_for

        numbers = self._engine.numbers_of(context)
        return self._engine.look(lambda core, now: explained_for(core, now, numbers))

    def history(self) -> "Log":
        """The plays so far, the last `history` of them, in the order in which they began.

        A `tarry.Log`, in seconds: a play that is out or was cancelled is unfinished, `starts` are
        UTC, and `context["status"]` says where each stands ("out", "returned", "failed", "closed",
        "cancelled"). With a lease a play that "vanished" is finished, at the time booked for it,
        one that is out is unfinished at what was last reported, and void plays are left out.
        """
        engine = self._engine
        engine.check_process()
        engine.check_file()
        chunks = engine.store.chunks()
        names, longest, now, (_, plays) = engine.look(
            lambda core, now: (
                [arm.name for arm in core.slots],
                core.max_delay,
                now,
                all_ended(chunks, core, now),
            )
        )
        told = engine.ticker.created, longest, self._most, now, engine.features
        return as_log(plays, names, *told, leased=self.lease is not None)

    def backup(self, path: str | Path) -> None:
        """A consistent copy of the journal, made while the agent goes on.

        An agent made with the copy goes on from here, and knows the plays made so far.
        """
        self._engine.backup(check_path(path))

    def close(self) -> None:
        """Let go of the journal; plays still out stay out."""
        self._engine.close()

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
        if self.path and self._engine.is_foreign():
            return f"<Agent of {policy_label(self.policy)}{where}, of the parent process>"
        return (
            f"<Agent of {policy_label(self.policy)}, {self.payoff}, arms {', '.join(self.arms)}"
            f"{where}: {self.counts.asked} plays>"
        )

    def __reduce__(self) -> Any:
        """Refuse to be pickled: an agent lives in one process."""
        raise TypeError(
            "An agent cannot be pickled or copied; make one in each process, or send play ids."
        )

    def _ask(self, context: Mapping[str, Any] | None, key: str | None) -> tuple[Play, int]:
        """A play, and the number of its fact in the store."""
        self._wait_for_store()
        return self._engine.ask(context, key)

    def _wait_for_store(self) -> None:
        """Where a store that fails is an error, nothing is begun before it works again."""
        engine = self._engine
        if self._insist and engine.store.trouble:
            engine.check_process()
            engine.store.wait(engine.store.appended)

    def _end(
        self, kind: int, play: Play | ActivePlay | int, delay: int | None = None
    ) -> tuple[Told | bool, int]:
        return self._engine.end(kind, self._engine.number_of(play), delay)

    def _is_answered(self, play: int) -> bool:
        number = self._engine.number_of(play)
        return self._engine.is_answered(number)

    def _give_up(self, play: Play) -> None:
        """The choice did not reach anybody: the play is cancelled, and nobody waits for that."""
        self._end(CANCEL, play)

    def _change(self, kind: int, name: str) -> None:
        """A change that was made but could not be written is not made again, but written."""
        if not isinstance(name, str):
            raise InputError(f"The arm is {shortened(name)}; give its name.")
        change, seq = self._unwritten
        if change != (kind, name):
            self._wait_for_store()
            seq = self._engine.change_arms(kind, name)
        self._unwritten = (kind, name), seq
        self._flush(seq)
        self._unwritten = None, 0
        self._engine.changed_arms(seq)

    def _flush(self, seq: int) -> None:
        if self.path is not None:
            self._engine.flush(seq, insist=self._insist)

    async def _flush_async(self, seq: int) -> None:
        store = self._engine.store
        if self.path is None or (not self._insist and self._engine.is_alone()):
            return
        await durable(store, seq)
        if self._insist and store.durable < seq:
            why = store.trouble or "no answer"
            raise JournalError(f"The journal {self.path} cannot be written ({why}).")

    @property
    def _core(self) -> Core:
        """What decides, for tests."""
        return self._engine.look(lambda core, _: core)
