"""What is known at time `now`, worked out in one place for the simulator and the agent.

Facts come in, a rule and a ledger are told of them, in this order and in no other:

    1. answers, as they are seen or told                       book_answer
    2. plays that are D old: complete, whether they are back   settle
    3. plays that reach an age the rule asked for              settle
    4. a decision, and the play that follows from it           decide, book_start

The simulator's calendar brings answers when they are due; the agent is told of them by its user,
perhaps late, and closes plays that reached age D. Nothing else is different between the two.
"""

from typing import Any

from tarry.arrays import IntArray
from tarry.ledger import Ledger
from tarry.plays import CANCELLED, COMPLETE, FIRST_EDGE, OUT, Ages, Plays, SteadyAges
from tarry.policies.protocol import STOP, aged, outlived, returned, started, withdrawn
from tarry.randomness import SELECT, Random


def decide(
    rule: Any,
    ledger: Ledger,
    plays: Plays,
    ages: Ages | SteadyAges,
    number: int,
    now: int,
    rng: Random,
) -> int:
    """The arm that the rule chooses for play `number`, to be made at time `now`."""
    row = plays.row_of(number)
    ages.fill(plays, row, number, now)
    return rule.select(ledger, plays, row, now, rng.of_play(number, SELECT))


def book_start(rule: Any, ledger: Ledger, plays: Plays, row: int, arm: int, now: int) -> None:
    """The play in `row` is made now, of `arm`."""
    plays.arm[row] = arm
    if hasattr(rule, "crowding"):
        plays.ahead[row] = ledger.missing(arm)
    ledger.book_play(arm, now)
    started(rule, plays, row)


def book_answer(
    rule: Any, ledger: Ledger, plays: Plays, row: int, delay: int, now: int, rng: Random
) -> None:
    """The answer of the play in `row` is seen: it took `delay`."""
    book_seen(rule, ledger, plays, row, plays.number[row], plays.start[row], delay, now, rng)


def book_seen(
    rule: Any,
    ledger: Ledger,
    plays: Plays,
    row: int,
    number: int,
    start: int,
    delay: int,
    now: int,
    rng: Random,
) -> None:
    """`book_answer` for a caller that knows number and start without looking them up."""
    plays.delay[row] = delay
    if ledger.book_return(number, plays.arm[row], start, delay):
        returned(rule, plays, row, now, rng)


def settle(
    rule: Any, ledger: Ledger, plays: Plays, ages: Ages | SteadyAges, last: int, now: int
) -> None:
    """Time has reached `now`: tell of the plays up to number `last` that have become old enough."""
    complete(ledger, plays, ages, last, now)
    if hasattr(rule, "edges"):
        tell_ages(rule, rule.edges, ledger, plays, ages, last, now)


def complete(ledger: Ledger, plays: Plays, ages: Ages | SteadyAges, last: int, now: int) -> None:
    """Plays that are D old have their payoff. No rule hears of it: one compilation serves all."""
    number = ages.first_due(COMPLETE, now)
    end = ages.end_due(COMPLETE, plays, last, now)
    while number < end:  # quicker than a range, where there is one play at most
        row = plays.row_of(number)
        if ages.concerned(plays, row):
            delay = plays.complete_delay(row, ages.edges[COMPLETE])
            ledger.book_complete(number, plays.arm[row], delay)
        number += 1


def tell_ages(
    rule: Any,
    edges: IntArray,
    ledger: Ledger,
    plays: Plays,
    ages: Ages | SteadyAges,
    last: int,
    now: int,
) -> None:
    """Plays that have reached an age that the rule asked for.

    They are read from `ages`, which may follow fewer of them. The rule's own `edges` are handed in
    for the compiler: of a rule that has none it does not know the call, and does not compile it.
    """
    for edge in range(FIRST_EDGE, len(ages.edges)):
        for number in range(ages.first_due(edge, now), ages.end_due(edge, plays, last, now)):
            row = plays.row_of(number)
            if number >= ledger.phase[0] and ages.concerned(plays, row):
                if plays.delay[row] == OUT:
                    outlived(rule, plays, row, edge - FIRST_EDGE, now)
                if plays.delay[row] > CANCELLED:
                    aged(rule, plays, row, edge - FIRST_EDGE, now)


def settle_and_decide(
    rule: Any, ledger: Ledger, plays: Plays, ages: Ages, number: int, now: int, rng: Random
) -> int:
    """`settle` for the plays before play `number`, then `decide` on it: an ask of live use."""
    settle(rule, ledger, plays, ages, number - 1, now)
    return decide(rule, ledger, plays, ages, number, now, rng)


def settle_decide_and_start(
    rule: Any, ledger: Ledger, plays: Plays, ages: Ages, number: int, now: int, rng: Random
) -> int:
    """`settle_and_decide`, and `book_start` of the arm that was chosen; STOP if none was."""
    arm = settle_and_decide(rule, ledger, plays, ages, number, now, rng)
    if arm != STOP:
        book_start(rule, ledger, plays, plays.row_of(number), arm, now)
    return arm


def correct_ages(
    rule: Any, ledger: Ledger, plays: Plays, ages: Ages, row: int, lasted: int, now: int
) -> None:
    """The play in `row` is known to have lasted `lasted`: outlived exactly the edges up to there.

    Those that it passed since time was settled are still to be told; those told after it came
    back, but before anybody said so, are withdrawn. To be called before its answer is booked.
    """
    number = plays.number[row]
    if number < ledger.phase[0]:
        return
    for edge in range(FIRST_EDGE, len(ages.edges)):
        told = ages.reached[edge] > number
        if ages.edges[edge] <= lasted and not told:
            outlived(rule, plays, row, edge - FIRST_EDGE, now)
        elif ages.edges[edge] > lasted and told:
            withdrawn(rule, plays, row, edge - FIRST_EDGE, now)


def age_for_the_last_time(
    rule: Any, ledger: Ledger, plays: Plays, ages: Ages, row: int, now: int
) -> None:
    """The play in `row` will not be watched any longer: tell of the ages that it has reached.

    Time does not reach it any more (see `settle`), so what it passed since then is told here.
    """
    number = plays.number[row]
    if number < ledger.phase[0]:
        return
    for edge in range(FIRST_EDGE, len(ages.edges)):
        old = plays.start[row] <= now - ages.edges[edge]
        if old and ages.reached[edge] <= number:
            aged(rule, plays, row, edge - FIRST_EDGE, now)


def book_told(
    rule: Any,
    ledger: Ledger,
    plays: Plays,
    ages: Ages,
    row: int,
    delay: int,
    now: int,
    rng: Random,
) -> None:
    """Somebody tells that the play in `row` took `delay`; perhaps it came back a while ago."""
    correct_ages(rule, ledger, plays, ages, row, delay, now)
    book_answer(rule, ledger, plays, row, delay, now, rng)


def book_cancelled(
    rule: Any,
    ledger: Ledger,
    plays: Plays,
    ages: Ages,
    row: int,
    lasted: int,
    booked: int,
    now: int,
    rng: Random,
) -> None:
    """The play in `row`, out when it was `lasted` old, is not watched any longer.

    A rule that follows ages is told which it has reached, and nothing more. One that lives on sums
    cannot hold "at least so long": it is told of an answer with the delay `booked`, as its ledger.
    Where others were told of time going on before they heard of this, it may have been said to be
    older than it was: what cannot be taken back (`aged`) stays said.
    """
    if hasattr(rule, "aged"):
        for edge in range(FIRST_EDGE, len(ages.edges)):
            if ages.reached[edge] > plays.number[row]:
                lasted = max(lasted, ages.edges[edge])
    correct_ages(rule, ledger, plays, ages, row, lasted, now)
    age_for_the_last_time(rule, ledger, plays, ages, row, now)
    give_up(rule, ledger, plays, ages, row, booked, now, rng)


def give_up(
    rule: Any,
    ledger: Ledger,
    plays: Plays,
    ages: Ages,
    row: int,
    booked: int,
    now: int,
    rng: Random,
) -> None:
    """`book_cancelled` of a play whose ages up to now were all told."""
    plays.delay[row] = booked
    seen = ledger.book_return(plays.number[row], plays.arm[row], plays.start[row], booked)
    if seen and len(ages.edges) == FIRST_EDGE:
        returned(rule, plays, row, now, rng)
    plays.delay[row] = CANCELLED - booked
