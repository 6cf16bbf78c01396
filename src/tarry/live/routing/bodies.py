"""Bodies that are watched: of answers until they have come, of requests while they are made."""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import Any

import anyio

from tarry.live.routing.attempt import Attempt
from tarry.live.routing.book import Book
from tarry.live.routing.delivery import Delivery, Readers


class _Watched:
    """What both kinds of answers share."""

    def __init__(
        self,
        stream: Any,
        delivery: Delivery | None,
        book: Book,
        readers: Readers,
        leave: Callable[[], None],
    ) -> None:
        self._stream = stream
        self._delivery = delivery  # None if how the body comes does not matter
        self._book = book
        self._readers = readers
        self._leave = leave
        self._closed = False

    def _close_once(self) -> bool:
        """Whether this is the first call; gives the connection's place in the pool free."""
        if self._closed:
            return False
        self._closed = True
        if self._delivery is not None:
            self._readers.discard(self._delivery)
        self._leave()
        return True


class SyncBody(_Watched):
    """The body of an answer."""

    def __iter__(self) -> Iterator[bytes]:
        """The bytes as they come; a reader who goes away, or is collected, wants no more."""
        try:
            yield from self._watched()
        except GeneratorExit:
            self.close()
            raise

    def _watched(self) -> Iterator[bytes]:
        delivery = self._delivery
        if delivery is None:
            yield from self._stream
            return
        attempt, write = delivery.attempt, self._book.write
        delivery.reading()
        try:
            for chunk in self._stream:
                ending = delivery.came(chunk)
                if ending is not None:
                    write(attempt, ending)
                delivery.handed_out()
                yield chunk
                delivery.reading()
        except Exception:
            write(attempt, "fail")
            raise
        write(attempt, delivery.ended())

    def close(self) -> None:
        """The caller wants no more."""
        try:
            self._stream.close()
        finally:
            if self._close_once() and self._delivery is not None:
                self._book.write(self._delivery.attempt, "cancel")


class AsyncBody(_Watched):
    """The body of an answer, for event loops."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The bytes as they come; a reader who goes away, or is collected, wants no more."""
        async with _closing(self._watched()) as chunks:
            try:
                async for chunk in chunks:
                    yield chunk
            except GeneratorExit:
                with anyio.CancelScope(shield=True):
                    await self.aclose()
                raise

    async def _watched(self) -> AsyncIterator[bytes]:
        async with _closing(aiter(self._stream)) as chunks:
            delivery = self._delivery
            if delivery is None:
                async for chunk in chunks:
                    yield chunk
                return
            attempt, write = delivery.attempt, self._book.write_async
            delivery.reading()
            try:
                async for chunk in chunks:
                    ending = delivery.came(chunk)
                    if ending is not None:
                        await write(attempt, ending)
                    delivery.handed_out()
                    yield chunk
                    delivery.reading()
            except Exception:
                await write(attempt, "fail")
                raise
            await write(attempt, delivery.ended())

    async def aclose(self) -> None:
        """The caller wants no more."""
        try:
            await self._stream.aclose()
        finally:
            if self._close_once() and self._delivery is not None:
                await self._book.write_async(self._delivery.attempt, "cancel")


@contextlib.asynccontextmanager
async def _closing(chunks: Any) -> AsyncIterator[Any]:
    """A generator on an event loop is closed by whoever began it, not by the garbage collector."""
    try:
        yield chunks
    finally:
        if hasattr(chunks, "aclose"):
            await chunks.aclose()


class _Making:
    """A block in which the caller makes a part of a body: its time and its errors are its own."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._since = 0.0

    def __enter__(self) -> None:
        self._since = self._attempt.waiting.now()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        waiting = self._attempt.waiting
        waiting.not_waiting(waiting.now() - self._since)
        over = isinstance(error, StopIteration | StopAsyncIteration)
        self._attempt.own_fault = error is not None and not over


class SyncUpload:
    """The body of a request, made by the caller while it is sent."""

    def __init__(self, stream: Any, attempt: Attempt) -> None:
        self._stream = stream
        self._making = _Making(attempt)

    def __iter__(self) -> Iterator[bytes]:
        """The bytes as they are made."""
        parts = iter(self._stream)
        while True:
            try:
                with self._making:
                    part = next(parts)
            except StopIteration:
                return
            yield part

    def close(self) -> None:
        """Nothing more is wanted."""
        self._stream.close()


class AsyncUpload:
    """The body of a request, made by the caller while it is sent, for event loops."""

    def __init__(self, stream: Any, attempt: Attempt) -> None:
        self._stream = stream
        self._making = _Making(attempt)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The bytes as they are made."""
        parts = aiter(self._stream)
        while True:
            try:
                with self._making:
                    part = await anext(parts)
            except StopAsyncIteration:
                return
            yield part

    async def aclose(self) -> None:
        """Nothing more is wanted."""
        await self._stream.aclose()
