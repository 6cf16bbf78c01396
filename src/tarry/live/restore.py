"""How a core comes back from what a store has kept."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from tarry.errors import JournalError
from tarry.live import state
from tarry.live.clock import TICKS
from tarry.live.core import Core
from tarry.live.facts import apply
from tarry.live.features import features_from
from tarry.live.history import Chunk, all_ended, due_chunks
from tarry.live.lease import Lease
from tarry.live.rebuild import rebuild
from tarry.live.replica import Replica, unpacked_replica
from tarry.live.store.protocol import Store
from tarry.policies import by_name
from tarry.policies.label import policy_label
from tarry.policies.protocol import Policy, Setting

LOOK = 64  # facts after which it is looked whether a snapshot or a chunk of history is due
log = logging.getLogger("tarry")


def new_core(policy: Policy, settings: dict[str, Any]) -> Core:
    """A core in which nothing happened yet."""
    features = features_from(settings.get("features", ()))
    setting = Setting(
        arms=len(settings["arms"]),
        max_delay=settings["max_delay"],
        horizon=settings["horizon"],
        reward=settings["payoff"] == "reward",
        unit=TICKS,
        crowding=True,
        features=len(features.columns) if features else 0,
    )
    remembered = settings["remembered"]
    return Core(
        policy,
        settings["arms"],
        setting,
        settings["seed"],
        remembered=remembered,
        features=features,
        lease=Lease(*settings["lease"]) if "lease" in settings else None,
    )


def check_keepable(core: Core) -> None:
    """Refuse a rule that no store can keep."""
    try:
        state.numbers_of(core.open.rule)
    except TypeError as error:
        raise JournalError(
            f"The rule of {policy_label(core.policy)} holds {error}, which a journal cannot keep; "
            f"use numbers, arrays and NamedTuples of them, or no path."
        ) from error


def restored(policy: Policy, settings: dict[str, Any], store: Store, name: str) -> Core:
    """The core after all facts of the store; `name` is what to call the store."""
    core = new_core(policy, settings)
    body, facts = store.kept()
    if body is not None:
        used = take_evidence(core, body, store.chunks)
        if used is not None:
            log.warning(
                "%s: the evidence for %s was made anew from the last %d of %d plays.",
                name,
                policy_label(policy),
                used,
                core.asked,
            )
    first = store.appended - len(facts) + 1
    for number, fact in enumerate(facts, first):
        apply(core, fact)
        if number % LOOK == 0:
            for chunk in due_chunks(core):
                store.keep(chunk)
    return core


def without_rule(store: Store) -> Core:
    """The core after all facts of the store, with a rule that learns nothing and never fails."""
    core = new_core(by_name("Uniform")(), store.settings)
    body, facts = store.kept()
    if body is not None:
        take_evidence(core, body, ())
    for fact in facts:
        apply(core, fact)
    return core


def newest_replica(store: Any, restore: Callable[[bytes | None, int], Replica]) -> Replica:
    """The replica after all facts of a database."""
    from tarry.live.store.postgres.courier import READ

    replica = None
    for seq, body in store.snapshots():
        try:
            replica = restore(body, seq)
            break
        except (ValueError, KeyError, TypeError) as error:
            log.warning("%s: a snapshot is unreadable (%s).", store.where, error)
    replica = replica or restore(None, 0)
    store.check_facts_after(replica.seq)
    store.courier.cursor = replica.seq
    while True:
        facts = store.read_on()
        for fact in facts:
            replica.fold(fact)
        if len(facts) < READ:  # others may append for ever
            return replica


def restored_replica(policy: Policy, store: Any, body: bytes | None) -> Replica:
    """The replica that was dumped, or a new one."""
    core = new_core(policy, store.settings)
    if body is None:
        return Replica(core)
    meta, ids, inner = unpacked_replica(body)
    used = take_evidence(core, inner, store.chunks)
    if used is not None:
        log.warning(
            "The agent %s: the evidence for %s was made anew from the last %d of %d plays.",
            store.where,
            policy_label(policy),
            used,
            core.asked,
        )
    replica = Replica(core)
    replica.take_names(meta, ids)
    return replica


def check_policy_of_others(store: Any, given: Any) -> None:
    """Refuse another policy than that of other processes; if there are none, it is the new one."""
    wanted = {key: given.settings[key] for key in ("policy", "horizon")}
    if {key: store.settings[key] for key in wanted} == wanted:
        return
    before, after = (called(settings) for settings in (store.settings, wanted))
    if store.others_alive():
        raise JournalError(
            f"The agent {store.where} is decided on by {before} in other processes, but {after} "
            f"is given; give the same, or stop the others first."
        )
    log.warning(
        "The agent %s was decided on by %s and is by %s from now on.",
        store.where,
        before,
        after,
    )
    store.change(store.settings | wanted)


def called(settings: dict[str, Any]) -> str:
    """The policy of an agent, in words."""
    horizon = settings["horizon"]
    return f"{settings['policy']}{f' with horizon {horizon}' if horizon else ''}"


def take_evidence(core: Core, body: bytes, chunks: Any) -> int | None:
    """Bring a fresh core to where a snapshot was taken.

    None if the evidence could be taken as it is; else it is made anew from the history, given as a
    function or as chunks, and the number of plays that it is of is returned.
    """
    meta, columns = state.load(core, body)
    try:
        state.load_desks(core, meta, columns)
    except (ValueError, KeyError):
        found: Sequence[Chunk] = chunks() if callable(chunks) else chunks
        return rebuild(core, *all_ended(found, core, core.now))
    return None
