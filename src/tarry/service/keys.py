"""Keys: who may do what. Only their hashes are kept.

A key is 32 random bytes, so a plain hash is enough: there is nothing to guess from. All hashes are
compared, each in constant time, so the time says nothing about which of them came near.

A file of keys has a line of JSON for each: {"name", "role", "hash", "origins", "agents"}.
"""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

import msgspec

from tarry.checks import shortened
from tarry.errors import InputError
from tarry.files import check_place
from tarry.service.addresses import check_origins
from tarry.service.messages import LONGEST_NAME, is_name
from tarry.service.operations import Role

PREFIX = "tarry_"
ROLES = ("manage", "decide", "page")


class Key(msgspec.Struct, frozen=True, omit_defaults=True):
    """A key, as a file has it."""

    name: str
    role: str
    hash: str
    origins: tuple[str, ...] = ()  # where pages with it may come from
    agents: tuple[str, ...] = ()  # which it is for; all if none is named

    def may(self, role: Role) -> bool:
        """Whether it is good for what needs this role."""
        return self.role == role or (self.role == "manage" and role == Role.DECIDE)

    def is_for(self, agent: str) -> bool:
        """Whether it is good for this agent."""
        return not self.agents or agent in self.agents


EVERYBODY = Key("", "manage", "")  # who calls where no keys are set


class Keys:
    """The keys that are accepted; where there are none, everybody may do everything."""

    def __init__(self, keys: list[Key] | None = None) -> None:
        self.keys = keys or []
        self._hashes = [(bytes.fromhex(key.hash), key) for key in self.keys]

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.keys)

    def origins(self) -> set[str]:
        """The sites that some page key names."""
        return {origin for key in self.keys for origin in key.origins}

    def find(self, secret: str) -> Key | None:
        """The key with this secret."""
        digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
        found = None
        for known, key in self._hashes:  # to the end, whether or not it was found
            if hmac.compare_digest(known, digest):
                found = key
        return found


def new_key(
    name: str, role: str, origins: tuple[str, ...] = (), agents: tuple[str, ...] = ()
) -> tuple[str, Key]:
    """A new secret, and what a file keeps of it."""
    if role not in ROLES:
        raise InputError(f"The role is {role!r}; it must be manage, decide or page.")
    if role == "page" and not origins:
        raise InputError(
            "A page key needs --origin, the address of the site that uses it, such as "
            "https://shop.example."
        )
    if origins and role != "page":
        raise InputError(f"An origin is for page keys, and the role is {role!r}; leave it out.")
    check_origins(origins)
    for agent in agents:
        if not is_name(agent):
            raise InputError(
                f"The agent is {shortened(agent)}; its name is 1 to {LONGEST_NAME} printable "
                f"characters, and neither . nor .."
            )
    secret = PREFIX + secrets.token_urlsafe(32)
    return secret, Key(name, role, hashlib.sha256(secret.encode()).hexdigest(), origins, agents)


def read_keys(path: str | Path) -> Keys:
    """The keys of a file."""
    try:
        lines = Path(path).read_text().splitlines()
    except (OSError, UnicodeError) as error:
        raise InputError(f"The keys {path} cannot be read ({error}).") from error
    keys = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            key = msgspec.json.decode(line, type=Key)
            good = key.role in ROLES and len(bytes.fromhex(key.hash)) == 32
        except (msgspec.MsgspecError, ValueError):
            good = False
        if not good:
            raise InputError(
                f"Line {number} of the keys {path} is no key; make lines with 'tarry key'."
            )
        keys.append(key)
    if not keys:
        raise InputError(f"There are no keys in {path}; make one with 'tarry key'.")
    return Keys(keys)


def append_key(path: str | Path, key: Key) -> None:
    """Add a line to a file that nobody else may read."""
    check_place(str(path))
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
            file.write(msgspec.json.encode(key) + b"\n")
    except OSError as error:
        raise InputError(f"The keys {path} cannot be written ({error}).") from error
