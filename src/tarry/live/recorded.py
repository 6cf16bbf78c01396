"""A core and the store of its facts, in step.

A change is recorded in the store and applied to the core. If it is interrupted half-way (Ctrl-C, a
signal handler that raises), the core is made anew from the store before it is used again, so that a
fact is either there in full or not at all.
"""

import logging
from collections import Counter
from pathlib import Path
from typing import Any

from tarry.errors import TarryError
from tarry.live import restore, state
from tarry.live.core import Core
from tarry.live.facts import ADD, Fact, Row, apply
from tarry.live.history import due_chunks
from tarry.live.ids import Ids
from tarry.live.store.protocol import Store
from tarry.policies.protocol import Policy

log = logging.getLogger("tarry")


class Recorded:
    """What an agent knows and keeps; whoever changes it sets `dirty` until the change is done."""

    def __init__(self, policy: Policy, store: Store, core: Core, path: Path | None) -> None:
        self.store = store
        self.ids = Ids(store.settings["ids"])
        self.odd: Counter[str] = Counter()  # what was not normal
        self.core = self._made(core)
        self.dirty = False  # whether a change has begun and has not ended
        self._policy = policy
        self._name = "The agent" if path is None else f"The journal {path}"

    def whole(self) -> Core:
        """The core; made anew from the store if a change was interrupted."""
        if self.dirty:
            self.odd["unheard"] += self.core.maker.unheard
            core = restore.restored(self._policy, self.store.settings, self.store, self._name)
            core.maker.unheard = 0  # those of the past were counted when they happened
            self.core = self._made(core)
            self.dirty = False
            self.odd["repaired"] += 1
            log.warning("%s: a change was interrupted; its state was made anew.", self._name)
        return self.core

    def record(self, fact: Row) -> int:
        """Append a fact that has been applied; its number."""
        seq = self.store.append(fact)
        if seq % restore.LOOK == 0:
            self.look_after()
        return seq

    def change_arms(self, fact: Fact) -> int:
        """An arm comes, goes or pauses; the number of the fact."""
        core = self.core
        self.dirty = True
        try:
            apply(core, fact)
        except TarryError:  # it was refused, and nothing has changed
            self.dirty = False
            raise
        if fact.kind == ADD:
            self.revise(slots=[arm.name for arm in core.slots])
        seq = self.record(fact)
        self.dirty = False
        return seq

    def look_after(self) -> None:
        """Hand over what the store is to have now and then."""
        core = self.core
        for chunk in due_chunks(core):
            self.store.keep(chunk)
        if self.store.snapshot_due(core.asked - core.register.oldest):
            self.dirty = True  # a look at everything brings some of it up to date
            body = state.dump(core)
            self.dirty = False
            self.store.take_snapshot(body)

    def snapshot(self) -> None:
        """Hand the state over to the store."""
        self.store.take_snapshot(state.dump(self.whole()))

    def revise(self, **more: Any) -> None:
        """Change these settings of the agent."""
        settings = self.store.settings
        self.store.change(settings | more | {"revision": settings.get("revision", 0) + 1})

    def _made(self, core: Core) -> Core:
        core.id_of = self.ids.known_as
        return core.hasten()
