"""Serving: addresses, signals, and an orderly end."""

import asyncio
import contextlib
import logging
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import uvicorn

from tarry.errors import InputError
from tarry.service import logs
from tarry.service.addresses import balancers, check_origins
from tarry.service.agents import Agents
from tarry.service.app import App
from tarry.service.keys import Keys, read_keys
from tarry.service.service import PAGE_RATE, RATE, Service, is_loopback
from tarry.service.shelves import shelf_of
from tarry.service.watching import keep_following

PATIENCE = 10  # seconds in which open requests are to be done with
OPENING = 3.0  # seconds for opening agents before the first request is answered
BACKLOG = 2048
OPEN_FILES = 65_536
THREADS = 64  # for what may wait, such as a database that is away
TURN = 0.0005  # seconds after which the thread that writes may have the interpreter
log = logging.getLogger("tarry.service")


@dataclass
class Serving:
    """What `tarry serve` is told."""

    store: str | None = None
    host: str = "127.0.0.1"
    port: int = 8090
    keys: str | None = None
    origins: Sequence[str] = ()
    secret: str | None = None
    durability: Literal["full", "normal"] = "full"
    rate: float = RATE
    page_rate: float = PAGE_RATE
    log: str = "warning"
    demo: bool = False
    behind: str = ""  # addresses of balancers whose word on who calls is taken

    def made(self) -> Service:
        """The service, with its agents open."""
        check_origins(self.origins)
        self.behind = balancers(self.behind)
        if self.demo and self.store is not None:
            raise InputError(
                "The demo plays with simulated visitors, which must not get into a store; leave "
                "--demo or --store out."
            )
        keys = Keys() if self.keys is None else read_keys(self.keys)
        if not keys and not is_loopback(self.host):
            raise InputError(
                f"The address {self.host} can be reached from elsewhere, and no keys are set; make "
                f"some with 'tarry key' and give --keys, or leave --host out."
            )
        agents = Agents(shelf_of(self.store), durability=self.durability)
        secret = None
        if self.secret is not None:
            from pathlib import Path

            try:
                secret = Path(self.secret).read_bytes().strip()
            except OSError as error:
                raise InputError(
                    f"The secret {self.secret} cannot be read ({error.strerror})."
                ) from error
            if len(secret) < 32:
                raise InputError(f"The secret {self.secret} is too short; give 32 bytes or more.")
        try:
            agents.open_all(OPENING)
            return Service(
                agents,
                keys=keys,
                origins=self.origins,
                secret=secret,
                rate=self.rate,
                page_rate=self.page_rate,
            )
        except BaseException:
            agents.close()
            raise


def serve(told: Serving, say: Callable[[str], None]) -> None:
    """Serve until a signal comes; then let open requests finish, and close the store."""
    logs.set_up(told.log)
    raise_limit()
    service = told.made()
    sys.setswitchinterval(TURN)
    try:
        listening = bound(told.host, told.port)
    except BaseException:
        service.agents.close()
        raise
    address = f"http://{shown_host(told.host)}:{listening.getsockname()[1]}"
    kept = service.agents.shelf

    def announce() -> None:
        lost = "; nothing is kept when this ends" if kept.kind == "memory" else ""
        say(f"Agents are {kept.text}{lost}.")
        if not service.keys:
            say("No keys are set: everybody on this machine may do everything.")
        say(f"The dashboard is at {address}/; Ctrl-C ends it.")

    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(_serve(service, listening, address, told, announce))
    finally:
        service.agents.close()


async def _serve(
    service: Service,
    listening: socket.socket,
    address: str,
    told: Serving,
    announce: Callable[[], None],
) -> None:
    server = Server(configured(service, told.behind), service, announce)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
    guests = [
        asyncio.ensure_future(keep_following(service.agents, service.over)),
        asyncio.ensure_future(service.agents.open_rest()),
    ]
    if told.demo:
        from tarry.service import visitors

        await service.agents.put(visitors.NAME, visitors.body())
        guests.append(asyncio.ensure_future(visitors.visit(address, service.over)))
    try:
        await server.serve(sockets=[listening])
    finally:
        service.over.set()
        for guest in guests:
            guest.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await guest


def configured(service: Service, behind: str = "") -> uvicorn.Config:
    """How requests are taken."""
    try:
        from tarry.service.connections import Connection
    except ImportError:  # a server without its quick parser, which waits for slow callers
        protocol: Any = "auto"
    else:
        protocol = Connection
    return uvicorn.Config(
        App(service),
        http=protocol,
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="on",
        server_header=False,
        proxy_headers=bool(behind),
        forwarded_allow_ips=behind or None,
        timeout_graceful_shutdown=PATIENCE,
        h11_max_incomplete_event_size=64 * 1024,
    )


class Server(uvicorn.Server):
    """A server that says to those who watch for hours that it ends."""

    def __init__(
        self, config: Any, service: Service, announce: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(config)
        self._service = service
        self._announce = announce
        self._closing: asyncio.Future[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin, and say so once requests are answered and signals heard."""
        await super().startup(sockets)
        if self.started:
            with contextlib.suppress(ImportError):
                from tarry.service.connections import keep_closing

                connections = self.server_state.connections
                self._closing = asyncio.ensure_future(keep_closing(connections))
            self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        if self._closing is not None:
            self._closing.cancel()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals end the server, and nothing else: what follows closes the store."""
        loop, taken = asyncio.get_running_loop(), []
        for sig in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ValueError, RuntimeError):  # only the main thread may
                loop.add_signal_handler(sig, self.handle_exit, sig, None)
                taken.append(sig)
        try:
            yield
        finally:
            for sig in taken:
                loop.remove_signal_handler(sig)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """A signal came."""
        self._service.over.set()
        super().handle_exit(sig, frame)


def new_loop() -> asyncio.AbstractEventLoop:
    """The quickest event loop that is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def raise_limit() -> None:
    """Let many files be open, if the machine allows it: an agent has seven, a caller one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def bound(host: str, port: int) -> socket.socket:
    """A socket at the address."""
    if not 0 <= port <= 65535:
        raise InputError(
            f"Nothing can be served at {host} port {port}; a port is a number from 0 to 65535."
        )
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, where = found[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen(BACKLOG)  # whoever comes from now on waits until they are served
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"Nothing can be served at {host} port {port} ({why}).") from error
    return listening


def shown_host(host: str) -> str:
    """A host as part of an address."""
    return f"[{host}]" if ":" in host else host
