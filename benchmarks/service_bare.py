"""The bare stack: the same server and the same commit, without a policy and without our layer.

What `python -m benchmarks.service` compares with: uvicorn, a body that is decoded, one fact
appended to the same store and waited for in the same way, an answer of the same size.
"""

import argparse
import asyncio
import sys
import time
from itertools import count
from typing import Any

import msgspec
import uvicorn

from tarry.live import Agent
from tarry.live.facts import START
from tarry.live.waiting import durable
from tarry.service.messages import Ask, Asked
from tarry.service.run import TURN, bound, new_loop

HEADERS = [(b"content-type", b"application/json")]


class Bare:
    """Appends a fact for each request."""

    def __init__(self, path: str) -> None:
        agent = Agent(arms=["a"], payoff="cost", max_delay=2.0, path=path)
        self.store: Any = agent._engine.store  # noqa: SLF001
        self.numbers = count(1)
        self.decoder = msgspec.json.Decoder(Ask)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            return
        message = await receive()
        self.decoder.decode(message["body"] or b"{}")
        number = next(self.numbers)
        seq = self.store.append((START, number, number, 0, None))
        await durable(self.store, seq)
        body = msgspec.json.encode(Asked(str(6737389440592773120 + number), "arm 3", time.time()))
        headers = [*HEADERS, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--store", required=True)
    options = parser.parse_args()
    sys.setswitchinterval(TURN)
    listening = bound("127.0.0.1", options.port)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
    config = uvicorn.Config(
        Bare(options.store), log_config=None, access_log=False, lifespan="off", server_header=False
    )
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(uvicorn.Server(config).serve(sockets=[listening]))


if __name__ == "__main__":
    main()
