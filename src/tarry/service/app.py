"""The ASGI application: from a request to its operation, and from what comes of it to an answer."""

import logging
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.responses import Response

from tarry.errors import TarryError
from tarry.service import deciding, managing, paging, watching
from tarry.service.keys import EVERYBODY, Key
from tarry.service.limits import read_body
from tarry.service.logs import request_line
from tarry.service.messages import DIGITS
from tarry.service.operations import OPERATIONS, Answer, Call, Operation, Role, Router
from tarry.service.problems import MEDIA, RefusedError, in_json, kind_of, problem
from tarry.service.service import Service, host_of, is_loopback
from tarry.service.site import Site

MOST = 256 * 1024  # bytes of a body
MOST_OF_PAGES = 16 * 1024
AWAY = "The service cannot write just now; try again soon."
ONCE = (b"idempotency-key", b"authorization", b"origin", b"host", b"content-type")
QUOTED = re.compile("`([^`]*)`")
WORDS = {
    "object": "an object",
    "array": "a list",
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
}
JSON = (b"content-type", b"application/json")
HANDLERS = (deciding, managing, paging, watching)  # whose import fills OPERATIONS
encode = msgspec.json.encode
log = logging.getLogger("tarry.service")


class App:
    """Answers requests for a service."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._router = Router(OPERATIONS)
        self._decoders = {
            one.name: msgspec.json.Decoder(one.takes) for one in OPERATIONS if one.takes is not None
        }
        self._site = Site()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """See ASGI."""
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.service.over.set()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        begun = time.perf_counter()
        name, status, role = "", 500, Role.OPEN
        headers: dict[bytes, bytes] = dict(scope["headers"])
        try:
            if len(headers) != len(scope["headers"]):
                check_once(scope["headers"])
            self._check_host(headers)
            if self._site.has(scope["path"]):
                name = "site"
                status = await self._site.answer(scope, receive, send)
                return
            operation, words = self._router.find(scope["method"], scope["raw_path"])
            name, role = operation.name, operation.role
            answer = await self._call(operation, words, scope, headers, receive)
            if isinstance(answer, Response):
                status = answer.status_code
                if scope["method"] == "HEAD":  # a stream would not end
                    answer = Response(status_code=status, headers=dict(answer.headers))
                await answer(scope, receive, send)
                return
            status, body, more = _parts(answer)
        except TarryError as error:
            kind = kind_of(error)
            is_private = kind == "store" and role == Role.PAGE  # it says where the store is
            status, body = problem(kind, AWAY if is_private else in_json(str(error)))
            more = {"content-type": MEDIA.decode(), **getattr(error, "headers", {})}
            origin = headers.get(b"origin", b"").decode("latin-1")
            if role == Role.PAGE and self.service.knows_origin(origin):  # so that it is readable
                more |= paging.cors(origin)
        except Exception:
            log.exception("A request to %s failed.", name or "nothing")
            status, body = problem("bug", "The service failed; its log says more.")
            more = {"content-type": MEDIA.decode()}
        finally:
            self._note(name, status, begun, scope)
        await _send(send, status, body, more)

    async def _call(
        self,
        operation: Operation,
        words: dict[str, str],
        scope: Any,
        headers: dict[bytes, bytes],
        receive: Any,
    ) -> Any:
        key = self._check_key(operation, words, headers)
        client = scope.get("client")
        address = client[0] if client else ""
        self._check_rate(operation, key, address)
        body = None
        if operation.takes is not None:
            most = MOST_OF_PAGES if operation.role == Role.PAGE else MOST
            raw = await read_body(receive, most, headers.get(b"content-length"))
            body = self._decoded(operation, raw, headers)
        text = scope["query_string"]
        query = dict(parse_qsl(text.decode("latin-1"))) if text else {}
        call = Call(self.service, key, words, body, query, headers, address)
        return await operation.handle(call)

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        """Without keys, refuse names that others can point to this machine."""
        if self.service.keys:
            return
        if not is_loopback(host_of(headers.get(b"host", b"").decode("latin-1"))):
            raise RefusedError(
                "host", "A service without keys is there for this machine alone; use 127.0.0.1."
            )

    def _check_key(
        self, operation: Operation, words: dict[str, str], headers: dict[bytes, bytes]
    ) -> Key:
        """Who calls; refused if they may not."""
        role = operation.role
        if role in (Role.OPEN, Role.PAGE):  # a page has its key in the body
            return EVERYBODY
        origin = headers.get(b"origin")
        if origin is not None and origin.partition(b"://")[2] != headers.get(b"host"):
            raise RefusedError("origin", "Pages of another origin may use /v1/page/ only.")
        keys = self.service.keys
        if not keys:
            return EVERYBODY
        scheme, _, secret = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        if scheme.lower() != "bearer" or not secret:
            raise RefusedError(
                "key", "Give a key: Authorization: Bearer KEY.", {"www-authenticate": "Bearer"}
            )
        key = keys.find(secret.strip())
        if key is None:
            raise RefusedError(
                "key", "The key is none of this service.", {"www-authenticate": "Bearer"}
            )
        if not key.may(role):
            raise RefusedError("role", f"This needs a key with the role {role}, not {key.role}.")
        name = words.get("name")
        if name is not None and not key.is_for(name):
            raise RefusedError("role", "This key is for other agents.")
        return key

    def _check_rate(self, operation: Operation, key: Key, address: str) -> None:
        if operation.role == Role.PAGE:
            self.service.page_rate.take(address, time.monotonic())
        elif operation.role != Role.OPEN:
            self.service.rate.take(key.hash, time.monotonic())

    def _decoded(self, operation: Operation, raw: bytes, headers: dict[bytes, bytes]) -> Any:
        if not raw:
            raw = b"{}"
        elif operation.role != Role.PAGE:
            kind = headers.get(b"content-type", b"")
            # A page can send other types to anywhere without being asked; a program may be lazy.
            if b"origin" in headers and not kind.startswith(b"application/json"):
                raise RefusedError(
                    "media", "The body must be JSON: Content-Type: application/json."
                )
        try:
            return self._decoders[operation.name].decode(raw)
        except msgspec.ValidationError as error:
            raise RefusedError("input", in_words(str(error))) from error
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise RefusedError("input", f"The body is no JSON ({error}).") from error

    def _note(self, name: str, status: int, begun: float, scope: Any) -> None:
        seconds = time.perf_counter() - begun
        self.service.metrics.note(name or "nothing", status, seconds)
        if log.isEnabledFor(logging.INFO):
            log.info("request", extra=request_line(name, status, seconds, scope))


def check_once(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse a header that is there twice where only one of them can count."""
    seen: set[bytes] = set()
    for name, _ in headers:
        if name in seen and name in ONCE:
            raise RefusedError("input", f"The header {name.decode()} is there twice; give one.")
        seen.add(name)


def in_words(complaint: str) -> str:
    """A complaint of the decoder as a sentence: the place first, and then what is wrong with it."""
    what, _, where = complaint.partition(" - at ")
    place = where.strip("`").replace("$.", "", 1).replace("$", "", 1)
    what = what.replace(f"`str` matching regex {DIGITS!r}", "text of 1 to 19 digits")
    what = QUOTED.sub(lambda found: kinds_in_words(found[1]), what)
    return f"The body is wrong{f' at {place}' if place else ''}: {what[:1].lower()}{what[1:]}."


def kinds_in_words(kinds: str) -> str:
    """What the decoder calls `int | str`; the names of fields are left alone."""
    parts = kinds.split(" | ")
    return " or ".join(WORDS[part] for part in parts) if set(parts) <= WORDS.keys() else repr(kinds)


def _parts(answer: Any) -> tuple[int, bytes, Mapping[str, str]]:
    if isinstance(answer, Answer):
        body = b"" if answer.body is None else encode(answer.body)
        return answer.status, body, answer.headers
    return 200, encode(answer), {}


async def _send(send: Any, status: int, body: bytes, more: Mapping[str, str]) -> None:
    headers = [(name.encode(), value.encode("latin-1", "replace")) for name, value in more.items()]
    if body:
        headers.append((b"content-length", b"%d" % len(body)))
        if "content-type" not in more:
            headers.append(JSON)
    elif status != 204:
        headers.append((b"content-length", b"0"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
