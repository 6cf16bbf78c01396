"""What an agent is made with, checked at the border."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tarry.checks import check_payoff, check_proper, check_whole, shortened
from tarry.errors import InputError, JournalError
from tarry.live.clock import TICKS, ManualClock, as_clock, to_seconds, to_ticks
from tarry.live.features import Features, in_words, same_features
from tarry.live.lease import Lease
from tarry.live.store.place import check_path
from tarry.live.store.postgres.link import check_address, check_text, is_address, shown
from tarry.policies.check import check_choice, check_policy
from tarry.policies.label import policy_label
from tarry.policies.protocol import Policy, Setting

LONGEST = 9_000_000_000.0  # seconds
NO_NUMBERS = (str, bytes, bytearray, bool, np.bool_)  # though `float` takes them


@dataclass
class Given:
    """What an agent is made with; checked, and in the form that is used, once it exists."""

    policy: Any
    arms: Any
    payoff: str
    max_delay: Any
    path: Any
    seed: int | None
    clock: Any
    horizon: int | None
    durability: Any
    in_flight: str | None
    remembered: int
    history: int
    features: Any
    on_store_failure: str
    name: str | None = None
    lease: Any = None
    heartbeat: Any = None

    def __post_init__(self) -> None:
        """Check everything at the border."""
        if self.features is not None:
            self.features = Features(self.features)
        self.defaulted = self.policy is None
        if self.policy is None:
            self.policy = default_policy(contextual=self.features is not None)
        self._check_place()
        check_choice("durability", self.durability, ("full", "normal"))
        self._check_in_flight()
        check_choice("on_store_failure", self.on_store_failure, ("raise", "continue"))
        self.settings: dict[str, Any] = {
            "policy": policy_label(self.policy),
            "payoff": self.payoff,
            "max_delay": check_max_delay(self.max_delay),
            "horizon": check_horizon(self.policy, self.payoff, self.horizon),
        }
        if self.features is not None:
            self.settings["features"] = self.features.described()
        self.settings |= check_lease(self.lease, self.heartbeat)
        self.arms = None if self.arms is None else check_names(self.arms)
        if self.shared:
            for text in _texts((self.arms, self.settings)):
                check_text("name of an arm or a feature", text)
        if self.seed is not None:
            self.seed = check_whole("seed", self.seed, 0, 2**64 - 1)
        most = 2**40
        self.remembered = check_whole("number of plays remembered", self.remembered, 0, most)
        self.history = check_whole("number of plays in the history", self.history, 0, most)
        if self.shared and self.clock is not None and not isinstance(self.clock, ManualClock):
            raise InputError(
                "A clock is given, but an agent in a database goes by the clock of the database, "
                "which all processes share; leave clock out (a ManualClock is taken, for tests)."
            )
        self.clock = as_clock(self.clock)

    def _check_in_flight(self) -> None:
        """What becomes of plays that an earlier process left out."""
        if self.in_flight is not None:
            check_choice("in_flight", self.in_flight, ("censor", "keep"))
        if self.in_flight == "censor" and self.lease is not None:
            raise InputError(
                "in_flight is 'censor', but with a lease plays are reported from outside and go on "
                "without a process; leave in_flight out."
            )

    def _check_place(self) -> None:
        """A file, or a database and a name in it."""
        self.shown_path: str | Path | None
        self.shared = is_address(self.path)
        if self.shared:
            self.path = check_address(self.path, self.name)
            self.shown_path = f"{self.name!r} in {shown(self.path)}"
            if not getattr(self.policy, "shareable", False):
                raise InputError(
                    f"{policy_label(self.policy)} decides by what it keeps for itself, which "
                    f"processes cannot share; take a policy that is shareable, such as "
                    f"SurvivalThompson, or a file for one process."
                )
            return
        if self.name is not None:
            raise InputError(
                f"The name is {self.name!r}, but only an agent in a database has one; give "
                f"path='postgresql://...' or leave name out."
            )
        self.path = None if self.path is None else check_path(self.path)
        self.shown_path = self.path


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value, at all depths."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts(list(value.items()))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def default_policy(*, contextual: bool = False) -> Policy:
    """What decides if nothing is said."""
    from tarry.policies import by_name

    policy: Policy = by_name("SurvivalRegression" if contextual else "SurvivalThompson")()
    return policy


def check_max_delay(seconds: Any) -> int:
    """D in ticks."""
    try:
        ticks = 0 if isinstance(seconds, NO_NUMBERS) else to_ticks(float(seconds))
    except (TypeError, ValueError, OverflowError):
        ticks = 0
    if ticks < 1 or ticks > 2**53:
        raise InputError(
            f"max_delay is {shortened(seconds)}; give a number of seconds from 0.000001 to "
            f"9000000000."
        )
    return ticks


def check_delay(seconds: Any, what: str = "delay") -> int:
    """A delay in ticks; what is longer than any D counts as that."""
    if type(seconds) is float and 0.0 <= seconds <= LONGEST:  # nearly always
        return round(seconds * TICKS)
    try:
        number = math.nan if isinstance(seconds, NO_NUMBERS) else float(seconds)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0.0 <= number < math.inf:
        raise InputError(
            f"The {what} is {shortened(seconds)}; give a number of seconds, 0 or more."
        )
    return to_ticks(min(number, LONGEST))


def check_lease(lease: Any, heartbeat: Any) -> dict[str, Any]:
    """The settings for a lease in ticks, none if there is no lease."""
    if lease is None and heartbeat is None:
        return {}
    if lease is None:
        raise InputError(
            f"heartbeat is {shortened(heartbeat)}, but without a lease nothing is reported; give "
            f"lease= as well, in seconds."
        )
    length = _span(lease)
    if length < 2:
        raise InputError(
            f"lease is {shortened(lease)}; give the seconds after which a play that nobody reports "
            f"has ended, from 0.000002 to 9000000000."
        )
    every = max(length // 3, 1) if heartbeat is None else _span(heartbeat)
    if not 1 <= every <= length:
        raise InputError(
            f"heartbeat is {shortened(heartbeat)}; give the seconds between two reports of a play, "
            f"more than 0 and at most the lease, {to_seconds(length):g} s."
        )
    return {"lease": [length, every]}


def _span(seconds: Any) -> int:
    """Seconds in ticks; 0 if they are no number, or too many."""
    try:
        ticks = 0 if isinstance(seconds, NO_NUMBERS) else to_ticks(float(seconds))
    except (TypeError, ValueError, OverflowError, InputError):
        return 0
    return ticks if ticks <= 2**53 else 0


def check_ages(policy: Any, settings: dict[str, Any]) -> None:
    """With a lease, refuse a policy that takes the age of a play from the clock."""
    if "lease" not in settings:
        return
    setting = Setting(
        arms=2,
        max_delay=settings["max_delay"],
        horizon=settings["horizon"],
        reward=settings["payoff"] == "reward",
        unit=TICKS,
    )
    if getattr(policy, "by_the_clock", False) or hasattr(policy.start(setting), "aged"):
        raise InputError(
            f"{policy_label(policy)} takes the age of a play that is out from the clock, but with "
            f"a lease it is reported; take another policy, such as SurvivalThompson."
        )


def check_horizon(policy: Any, payoff: str, horizon: int | None) -> int:
    """The horizon, 0 if unknown, for a policy that serves the payoff."""
    check_payoff(payoff)
    check_policy(policy, payoff)
    if getattr(policy, "simulated_only", False):
        raise InputError(
            f"{policy_label(policy)} keeps something of every play younger than max_delay in a "
            f"table of fixed size, which live time outgrows; it is for tarry.play and "
            f"tarry.compare only. Live, take another policy, such as SurvivalThompson."
        )
    if horizon is not None:
        return check_whole("horizon", horizon, 2, 2**62)
    if getattr(policy, "needs_horizon", False):
        raise InputError(
            f"{policy_label(policy)} needs a horizon; give horizon=, the number of plays expected "
            f"in all, or use a policy that needs none, such as SurvivalThompson."
        )
    return 0


def check_names(arms: Any) -> list[str]:
    """Names of arms, at least one, all different."""
    if isinstance(arms, str) or not isinstance(arms, Iterable):
        raise InputError(f"arms is {arms!r}; give a list of names.")
    names = list(arms)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise InputError(f"arms is {arms!r}; give at least one name, all of them non-empty text.")
    for name in names:
        check_proper(name, "arm")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"The arm {twice!r} is named twice; each arm needs a name of its own.")
    return names


def check_same(path: Path | str, settings: dict[str, Any], given: Given) -> None:
    """Refuse to go on with another payoff, D or seed than those of the journal."""
    wanted = {key: given.settings[key] for key in ("payoff", "max_delay")}
    if given.seed is not None:
        wanted["seed"] = given.seed
    _check_same_lease(path, settings, given)
    for key, value in wanted.items():
        if settings[key] != value:
            first, second = (
                f"{to_seconds(x):.16g} s" if key == "max_delay" else repr(x)
                for x in (settings[key], value)
            )
            raise JournalError(
                f"The journal {path} was made with {key} {first}, but {second} is given; give the "
                f"same, or another path."
            )


def _check_same_lease(path: Path | str, settings: dict[str, Any], given: Given) -> None:
    """Refuse another lease than that of the journal; one that is left out is that."""
    wanted = given.settings.get("lease")
    if wanted is None or settings.get("lease") == wanted:
        return
    there, here = (_said(lease) for lease in (settings.get("lease"), wanted))
    raise JournalError(
        f"The journal {path} was made with {there}, but {here} is given; leave lease out, or give "
        f"another path."
    )


def _said(lease: list[int] | None) -> str:
    if lease is None:
        return "no lease"
    length, every = map(to_seconds, lease)
    return f"a lease of {length:g} s and a heartbeat of {every:g} s"


def check_features(path: Path | str, settings: dict[str, Any], given: Given) -> None:
    """Refuse other features than those of the journal; let the default policy look at them.

    Their order is that of the journal, whichever is given.
    """
    stored = settings.get("features", [])
    if given.features is not None and not same_features(stored, given.settings["features"]):
        there, here = (in_words(each) for each in (stored, given.settings["features"]))
        raise JournalError(
            f"The journal {path} was made with other features: with {there}, but {here} is given; "
            f"leave features out, or give the same or another path."
        )
    if given.defaulted and stored:
        given.policy = default_policy(contextual=True)
        given.settings["policy"] = policy_label(given.policy)


KINDS = {
    "policy": str,
    "payoff": str,
    "max_delay": int,
    "horizon": int,
    "arms": list,
    "slots": list,
    "seed": int,
    "remembered": int,
    "created": float | int,
    "ids": list,
    "file": int,
}


def check_stored(path: Path | str, settings: dict[str, Any]) -> None:
    """Refuse settings of a journal that nobody wrote so."""
    good = all(isinstance(settings.get(key), kind) for key, kind in KINDS.items())
    lease = settings.get("lease", [2, 1])
    good = good and isinstance(lease, list) and len(lease) == len(Lease._fields)
    good = good and all(isinstance(x, int) and x >= 1 for x in lease)
    if not good or not 1 <= settings["max_delay"] <= 2**53 or not settings["arms"]:
        raise JournalError(
            f"The journal {path} is damaged: its settings are not those of an agent; "
            f"tarry.live.recover(path, new_path) saves the good part."
        )
