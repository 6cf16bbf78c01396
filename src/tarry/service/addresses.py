"""Addresses that people give: of sites whose pages may ask, and of balancers."""

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from tarry.checks import shortened
from tarry.errors import InputError

# What a browser sends: lower case, no user, path or slash, and no port that goes without saying.
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9_.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
USUAL = {"http": ":80", "https": ":443"}


def check_origins(origins: Iterable[str]) -> None:
    """Refuse what no browser will ever name as the origin of a page."""
    for origin in origins:
        scheme = origin.partition("://")[0]
        usual = origin.endswith(USUAL.get(scheme, " "))
        if not ORIGIN.fullmatch(origin) or usual:
            meant = likely(origin)
            hint = f"did you mean {meant}?" if meant else "such as https://shop.example."
            raise InputError(
                f"The origin is {shortened(origin)}; give scheme://host or scheme://host:port as "
                f"a browser sends it, in lower case and with no slash at the end, {hint}"
            )


def likely(text: str) -> str:
    """The origin that somebody may have meant; empty if that cannot be told."""
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        host = (parts.hostname or "").encode("idna").decode()
        port = f":{parts.port}" if parts.port else ""
    except (ValueError, UnicodeError):
        return ""
    shown = f"[{host}]" if ":" in host else host
    usual = port == USUAL.get(parts.scheme)
    meant = f"{parts.scheme}://{shown}{'' if usual else port}"
    return meant if "." in host and ORIGIN.fullmatch(meant) else ""


def balancers(text: str) -> str:
    """Addresses or networks with commas between them, checked."""
    found = [part.strip() for part in text.split(",")] if text.strip() else []
    for part in found:
        try:
            ipaddress.ip_network(part)
        except ValueError as error:
            raise InputError(
                f"The balancer to be behind is {shortened(part)}; give IP addresses or networks, "
                f"such as 127.0.0.1 or 10.0.0.0/8, with commas between them."
            ) from error
    return ",".join(found)
