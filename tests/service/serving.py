"""A service in a thread of the tests."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import httpx

from tarry.service.agents import Agents
from tarry.service.run import Server, bound, configured
from tarry.service.service import Service
from tarry.service.shelves import shelf_of

FRA: dict[str, Any] = {"arms": ["fra", "ams"], "payoff": "cost", "max_delay": 2.0}


class Running:
    """A service, its address, and a client for it."""

    def __init__(self, service: Service, port: int) -> None:
        self.service = service
        self.port = port
        self.address = f"http://127.0.0.1:{port}"
        self.http = httpx.Client(base_url=self.address, timeout=20.0)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """One request with a JSON body."""
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.request(method, path, json=body, headers=told)

    def ask(self, name: str = "routes", **headers: str) -> Any:
        """A play."""
        answer = self.call("POST", f"/v1/agents/{name}/ask", {}, **headers)
        assert answer.status_code == 200, answer.text
        return answer.json()


@contextlib.contextmanager
def running(store: str | None = None, **told: Any) -> Iterator[Running]:
    """A service that runs in another thread until the end of the block."""
    begun = threading.Event()
    box: dict[str, Any] = {}

    async def serve() -> None:
        agents = Agents(shelf_of(store))
        agents.open_all()
        service = Service(agents, **told)
        box["server"] = Server(configured(service), service)
        box["service"], box["loop"] = service, asyncio.get_running_loop()
        begun.set()
        try:
            await box["server"].serve(sockets=[listening])
        finally:
            agents.close()

    listening = bound("127.0.0.1", 0)
    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert begun.wait(20)
    here = Running(box["service"], listening.getsockname()[1])
    try:
        yield here
    finally:
        here.http.close()
        box["loop"].call_soon_threadsafe(box["server"].handle_exit, 15, None)
        thread.join(20)
        listening.close()
        assert not thread.is_alive()
