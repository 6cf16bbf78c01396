"""Experiments on a Dask cluster: the only module that imports Dask.

    with connect("tcp://10.0.0.5:8786") as executor:
        tarry.compare(..., executor=executor)

The workers need the same version of tarry. A worker that dies costs only time: the scheduler gives
its runs to others, and a run ends the same wherever it is played.
"""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from typing import Any, TypeVar

from tarry.errors import ExecutorError, MissingExtraError

T = TypeVar("T")
RETRIES = 3  # after a worker was lost while it computed


class DaskExecutor(Executor):
    """A Dask client in the form of concurrent.futures, with the number of threads it offers."""

    def __init__(self, client: Any) -> None:
        """Use this `distributed.Client`; it stays open when the executor is shut down."""
        self._client = client
        self.lost = f"The Dask scheduler at {client.scheduler.address!r} is gone"
        self._inner = client.get_executor(pure=False, retries=RETRIES)

    @property
    def slots(self) -> int:
        """Threads of all workers."""
        return max(1, sum(self._client.ncores().values()))

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
        """Let a worker call the function."""
        try:
            future: Future[T] = self._inner.submit(function, *args, **kwargs)
        except RuntimeError as error:  # the client has closed itself
            raise CancelledError from error
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for what was submitted, or cancel it."""
        self._inner.shutdown(wait=wait and not cancel_futures)  # not to wait is to cancel


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Dask's own tracebacks about lost connections from the terminal; we say it in a sentence.

    Handlers that users have put elsewhere hear of everything.
    """
    handlers = list(logging.getLogger("distributed").handlers)
    for handler in handlers:
        handler.addFilter(not_shown)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(not_shown)


def not_shown(_record: logging.LogRecord) -> bool:
    """A filter that lets nothing pass."""
    return False


@contextmanager
def connect(address: str, timeout: float = 5.0) -> Iterator[DaskExecutor]:
    """The executor of the Dask scheduler at `address`, such as "tcp://10.0.0.5:8786"."""
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise MissingExtraError.of("A Dask cluster", "distributed", "dask") from error
    try:
        make: Any = Client  # it has no types
        client = make(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ExecutorError(
            f"There is no Dask scheduler at {address!r}; start one with 'dask scheduler' and give "
            f"the address that it prints."
        ) from error
    with quiet(), client:
        if not client.ncores():
            raise ExecutorError(
                f"The Dask scheduler at {address!r} has no workers; start some with "
                f"'dask worker {address}'."
            )
        yield DaskExecutor(client)
