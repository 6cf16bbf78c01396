"""How an agent begins: a new one, or one that goes on from its store."""

import logging
import secrets
from pathlib import Path
from typing import Any

from tarry.checks import check_shown
from tarry.errors import InputError, JournalError, LiveError
from tarry.live.clock import SystemClock, Ticker
from tarry.live.coming_and_going import censor_all, listen
from tarry.live.core import Core
from tarry.live.engine import Engine
from tarry.live.facts import POLICY, Fact
from tarry.live.ids import new_identity
from tarry.live.recorded import Recorded
from tarry.live.replica import Replica
from tarry.live.restore import (
    called,
    check_keepable,
    check_policy_of_others,
    new_core,
    newest_replica,
    restored,
    restored_replica,
)
from tarry.live.settings import Given, check_ages, check_features, check_same, check_stored
from tarry.live.store.memory import MemoryStore
from tarry.live.store.protocol import Store

log = logging.getLogger("tarry")


def started(given: Given) -> Engine:
    """The engine of an agent."""

    def fresh() -> dict[str, Any]:
        if given.arms is None:
            raise InputError("No arms are given; a new agent needs arms=[...], their names.")
        check_shown(given.arms)  # those of an old journal are what they are
        if given.features is not None:
            given.features.check_shown()
        return given.settings | {
            "arms": given.arms,
            "slots": given.arms,
            "seed": secrets.randbits(64) if given.seed is None else given.seed,
            "remembered": given.remembered,
            "created": given.clock.utc(),
            "ids": [[new_identity(), 1]],
            "file": secrets.randbits(63),
        }

    if given.shared:
        shared: Any = _in_database(given, fresh)  # which can do all that an engine can
        return shared
    if given.path is None:
        settings = fresh()
        check_ages(given.policy, settings)
        core = new_core(given.policy, settings)
        store: Store = MemoryStore(settings, given.history)
        ticker = Ticker(given.clock, settings["created"])
        return Engine(given.policy, Recorded(given.policy, store, core, None), ticker, None)
    return _on_file(given, given.path, fresh)


def _on_file(given: Given, path: Path, fresh: Any) -> Engine:
    from tarry.live.store.schema import damaged
    from tarry.live.store.sqlite import SqliteStore

    _check_first(given)
    store = SqliteStore(path, fresh, given.durability, given.history)
    try:
        check_stored(path, store.settings)
        check_same(path, store.settings, given)
        check_features(path, store.settings, given)
        check_ages(given.policy, store.settings)
        before = store.settings
        store.settings = before | {key: given.settings[key] for key in ("policy", "horizon")}
        try:
            core = restored(given.policy, store.settings, store, f"The journal {path}")
        except JournalError:
            raise
        except Exception as error:
            why = f"its facts do not fit each other ({_sentence(error)})"
            raise damaged(path, why) from error
        check_keepable(core)
        _check_arms(path, core, given.arms)
        ticker = Ticker(given.clock, before["created"], core.now)
        recorded = Recorded(given.policy, store, core, path)
        engine = Engine(given.policy, recorded, ticker, path)
        seq = _note_policy(recorded, before, path)
        if core.leases is not None:
            seq = listen(recorded, ticker.now()) or seq
        elif given.in_flight != "keep":
            seq = censor_all(recorded) or seq
        if seq:
            store.wait(seq)
    except BaseException:
        store.close()
        raise
    return engine


def _check_first(given: Given) -> None:
    """Refuse what no agent can be before a file or a database is touched."""
    if given.arms is not None:
        check_ages(given.policy, given.settings)
        some = {"arms": given.arms, "seed": 0, "remembered": 0}
        check_keepable(new_core(given.policy, given.settings | some))


def _in_database(given: Given, fresh: Any) -> Any:
    where = str(given.shown_path)
    from tarry.live.shared import SharedEngine
    from tarry.live.shared_ticker import SharedTicker
    from tarry.live.store.postgres.store import PostgresStore

    clock = None if isinstance(given.clock, SystemClock) else given.clock
    _check_first(given)
    store = PostgresStore(
        given.path,
        given.name or "",
        lambda: fresh() | {"history": given.history},
        safe=given.durability == "full",
        clock=clock,
    )
    try:
        check_stored(where, store.settings)
        check_same(where, store.settings, given)
        check_features(where, store.settings, given)
        check_ages(given.policy, store.settings)
        check_policy_of_others(store, given)

        def restore(body: bytes | None, seq: int) -> Replica:
            return restored_replica(given.policy, store, body)

        replica = newest_replica(store, restore)
        _check_arms_of_others(store, replica.core, given.arms)
        replica.core.hasten()
        ticker = SharedTicker(store.line, store.created)
        insist = given.on_store_failure == "raise"
        return SharedEngine(given.policy, store, ticker, replica, restore, insist=insist)
    except BaseException:
        store.close()
        raise


def _note_policy(agent: Recorded, before: dict[str, Any], path: Path) -> int:
    """If another policy decides from now on, write that down and say so."""
    store = agent.store
    settings = store.settings
    if settings == before:
        return 0
    seq = store.append(Fact(POLICY, agent.core.now, name=settings["policy"]))
    store.change(settings | {"revision": before.get("revision", 0) + 1})
    agent.snapshot()
    log.warning(
        "The journal %s was decided on by %s and is by %s from now on.",
        path,
        called(before),
        called(settings),
    )
    return seq


def _check_arms(path: Path | str, core: Core, names: list[str] | None) -> None:
    here = list(core.arms)
    have = ", ".join(here) or "(none)"
    if names is not None and sorted(names) != sorted(here):
        raise JournalError(
            f"The journal {path} has the arms {have}, but {', '.join(names)} "
            f"are given; leave arms out and use add_arm and remove_arm."
        )


def _check_arms_of_others(store: Any, core: Core, names: list[str] | None) -> None:
    """Take the arms that an agent was made with, or has, or anything on the way from there to here.

    A process that starts again has the list that it always had, whatever was added and removed
    since. What it may not do is to add an arm, or to leave one of the first out, by its list.
    """
    if names is None or set(names) == set(core.arms):
        return
    ever = {arm.name for arm in core.slots}
    there, given = set(core.arms), set(names)
    if not given <= ever or not there & set(store.settings["arms"]) <= given:
        _check_arms(store.where, core, names)
    log.info(
        "The agent %s has the arms %s; others were added or removed since it was made.",
        store.where,
        ", ".join(core.arms) or "(none)",
    )


def _sentence(error: Exception) -> str:
    kind = "" if isinstance(error, LiveError | ValueError) else f"{type(error).__name__}: "
    return f"{kind}{str(error).rstrip('.')}"
