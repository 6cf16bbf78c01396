"""What becomes of an agent, and of its plays that are out, when processes begin, end or fork."""

import contextlib
import secrets

from tarry.live.censor import censor
from tarry.live.facts import CENSOR, LISTEN, WATCHED, Fact, apply
from tarry.live.ids import new_identity
from tarry.live.recorded import Recorded
from tarry.randomness import new_random


def listen(agent: Recorded, now: int) -> int:
    """What was said while no process had the store open was not heard; the fact's number, or 0."""
    core, fact = agent.core, Fact(LISTEN, now)
    if core.leases is None or not core.out:
        return 0
    apply(core, fact)
    return agent.record(fact)


def censor_all(agent: Recorded) -> int:
    """Plays that an earlier process left out are cancelled at the last moment known."""
    core = agent.core
    if not core.out:
        return 0
    agent.odd["censored"] += censor(core, core.now)
    return agent.record(Fact(CENSOR, core.now))  # some may have been D old


def watch_until(agent: Recorded, now: int) -> None:
    """Plays out were watched until this moment: who goes on later is to know how old they are."""
    core, fact = agent.whole(), Fact(WATCHED, now)
    if core.out:
        apply(core, fact)
        agent.record(fact)


def become_another(agent: Recorded) -> None:
    """In a child of a fork: the plays so far are known, those to come have ids and luck anew."""
    core, seed = agent.whole(), secrets.randbits(64)
    core.seed = seed
    for place, key in enumerate(new_random(seed).words[:2].tolist()):
        core.maker.rng.words[place] = key
    agent.ids.begin(new_identity(), core.asked + 1)
    agent.revise(seed=seed, ids=agent.ids.pieces)
    with contextlib.suppress(TypeError):  # a rule that nobody can keep is made anew from the facts
        agent.snapshot()
