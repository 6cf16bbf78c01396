"""Services, connections, and services that are away."""

import socket
from collections.abc import Iterator

import pytest
from tests.service.serving import Running, running
from tests.service.ways import Ports

import tarry
from tarry.service.client.connection import Connection


@pytest.fixture(scope="module")
def here() -> Iterator[Running]:
    """One service for all tests that leave it alone."""
    with running() as service:
        yield service


@pytest.fixture
def connection(here: Running) -> Iterator[Connection]:
    """A connection to the service."""
    with tarry.connect(here.address) as made:
        yield made


@pytest.fixture
def ports() -> Iterator[Ports]:
    """Such a server."""
    made = Ports()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(params=["refused", "silent"])
def away(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a service that is away, or does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        if request.param == "silent":
            yield address
            return
    yield address
