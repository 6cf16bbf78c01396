"""Answers to pages in a browser, which may ask for a variant and report on it, and nothing else.

No request needs a preflight: bodies are JSON sent as text/plain, so that `sendBeacon` works. The
origin must be one that the key names; a token says what the page may report on.
"""

from tarry.live.clock import to_seconds, to_ticks
from tarry.live.lease import longest_life
from tarry.service.deciding import chosen, ended
from tarry.service.keys import EVERYBODY, Key
from tarry.service.messages import PageAsk, PageAsked, PageReport
from tarry.service.operations import Answer, Call, Role, operation
from tarry.service.problems import RefusedError
from tarry.service.tokens import PlayToken

GRACE = 60.0  # seconds for which a report may be on its way
OF_TOKENS = ("token", "origin", "agent", "play", "conflict", "state", "store")


@operation(
    "POST",
    "/v1/page/ask",
    Role.PAGE,
    takes=PageAsk,
    gives=PageAsked,
    refuses=("key", "role", "origin", "agent", "state", "store"),
)
async def page_ask(call: Call) -> Answer:
    """Choose a variant for a page."""
    service, body = call.service, call.body
    origin = origin_of(call)
    key = key_of(call, body.key)
    service.check_origin(origin, key.origins)
    if not key.is_for(body.agent):
        raise RefusedError("role", "This key is for other agents.", cors(origin))
    served = await service.agents.get(body.agent)
    lease, heartbeat = served.agent.lease, served.agent.heartbeat
    if lease is None or heartbeat is None:
        raise RefusedError(
            "state", "This agent has no lease; for pages, make it with lease=15.", cors(origin)
        )
    play = await chosen(served, body.context)
    longest = served.agent.max_delay
    life = to_seconds(longest_life(to_ticks(longest), to_ticks(lease)))
    expiry = service.clock() + life + GRACE
    token = service.signer.sign(PlayToken(body.agent, play.id, origin, expiry))
    answer = PageAsked(token, play.arm, heartbeat, longest, lease)
    return Answer(answer, headers=cors(origin))


@operation(
    "POST",
    "/v1/page/alive",
    Role.PAGE,
    takes=PageReport,
    refuses=OF_TOKENS,
    statuses={204: "It is known."},
)
async def page_alive(call: Call) -> Answer:
    """A page was looked at for so many seconds in all, and still is."""
    return await reported(call, "alive")


@operation(
    "POST",
    "/v1/page/end",
    Role.PAGE,
    takes=PageReport,
    refuses=OF_TOKENS,
    statuses={204: "It is known."},
)
async def page_end(call: Call) -> Answer:
    """A page was looked at for so many seconds in all, and is left."""
    return await reported(call, "tell")


async def reported(call: Call, what: str) -> Answer:
    """What a page says of its play, to the agent that its token names."""
    token = token_of(call)
    served = await call.service.agents.get(token.agent)
    await ended(served, what, token.play, call.body.seconds)
    return Answer(status=204, headers=cors(token.origin))


def origin_of(call: Call) -> str:
    """Where the page is from, as its browser says."""
    origin = call.headers.get(b"origin", b"").decode("latin-1")
    if not origin:
        raise RefusedError("origin", "The request names no origin; a browser sends one by itself.")
    return origin


def key_of(call: Call, secret: str) -> Key:
    """The page key of a request."""
    keys = call.service.keys
    if not keys:
        return EVERYBODY
    key = keys.find(secret)
    if key is None:
        raise RefusedError("key", "The key is none of this service.")
    if key.role != Role.PAGE:
        raise RefusedError(
            "role", "This key is no page key, and must not be in a page: replace it."
        )
    return key


def token_of(call: Call) -> PlayToken:
    """What the token of a request says."""
    service = call.service
    return service.signer.read(call.body.token, origin_of(call), service.clock())


def cors(origin: str) -> dict[str, str]:
    """What lets a page of this origin read the answer."""
    return {"access-control-allow-origin": origin, "vary": "Origin"}
