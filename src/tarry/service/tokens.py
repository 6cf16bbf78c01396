"""Tokens for browsers: each is good for reporting on one play, from one origin, for some time.

base64url(JSON [agent, play, origin, expiry]) . base64url(HMAC-SHA256)
"""

import base64
import hashlib
import hmac
from typing import NamedTuple

import msgspec

from tarry.service.problems import RefusedError

WRONG = "The token is not one of this service; take that of the answer to /v1/page/ask."


class PlayToken(NamedTuple):
    """What a token says."""

    agent: str
    play: int
    origin: str
    expiry: float  # seconds since the epoch


class Signer:
    """Makes and checks tokens; all who have the same secret accept each other's."""

    def __init__(self, secret: bytes) -> None:
        self._key = hashlib.sha256(b"tarry play token\0" + secret).digest()
        self._decoder = msgspec.json.Decoder(tuple[str, int, str, float])

    def sign(self, token: PlayToken) -> str:
        """The token as text."""
        body = base64.urlsafe_b64encode(msgspec.json.encode(tuple(token))).rstrip(b"=")
        return (body + b"." + self._mark(body)).decode()

    def read(self, text: str, origin: str, now: float) -> PlayToken:
        """What a token says, if it is ours, of this origin, and not too old."""
        body, _, mark = text.encode("utf-8", "replace").partition(b".")
        if not hmac.compare_digest(self._mark(body), mark):
            raise RefusedError("token", WRONG)
        token = PlayToken(*self._decoder.decode(base64.urlsafe_b64decode(body + b"==")))
        if token.origin != origin:
            raise RefusedError("token", "The token was given to a page of another origin.")
        if now > token.expiry:
            raise RefusedError("token", "The token is too old: its play ended long ago.")
        return token

    def _mark(self, body: bytes) -> bytes:
        digest = hmac.digest(self._key, body, "sha256")
        return base64.urlsafe_b64encode(digest).rstrip(b"=")
