"""Client with a rate limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

_SILENT_NS = 1_000_000_000  # chosen: ten times what brakes; a page that was reloaded
_WINDOW_NS = 1_000_000_000
_MOST = 400  # [1/s] chosen: more than twice 144 Hz, the fastest display (A7)


async def run_until_one_ends(*parts: Coroutine[Any, Any, None]) -> None:
    """Run coroutines until one ends; raise its exception."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Client:
    """One connection."""

    def __init__(self, connection: ServerConnection, clock: Callable[[], int]) -> None:
        self._connection, self._clock = connection, clock
        self._spoke_ns = self._window_ns = clock()
        self._n_window = self.n_messages = 0

    @property
    def is_silent(self) -> bool:
        """Whether another client may take its place."""
        return self._clock() - self._spoke_ns > _SILENT_NS

    @property
    def is_behind(self) -> bool:
        """Whether sent data are queued."""
        return self._connection.transport.get_write_buffer_size() > 0

    @property
    def query(self) -> str:
        """Query string of its address."""
        request = self._connection.request
        return "" if request is None else request.path.partition("?")[2]

    async def listen(self) -> AsyncIterator[str | bytes]:
        """Yield messages until it leaves or exceeds the rate."""
        try:
            async for data in self._connection:
                if self._is_too_fast():
                    self.cut()  # a farewell would wait behind what it has sent
                    return
                yield data
        except ConnectionClosed:
            return

    async def send(self, data: str | bytes) -> bool:
        """Return whether a message was sent to a present client."""
        try:
            await self._connection.send(data)
        except ConnectionClosed:
            return False
        return True

    async def close(self, code: int, reason: str) -> None:
        """Close the connection."""
        await self._connection.close(code, reason)

    def cut(self) -> None:
        """Abort the connection."""
        self._connection.transport.abort()

    def _is_too_fast(self) -> bool:
        self._spoke_ns = now_ns = self._clock()
        self.n_messages += 1
        if now_ns - self._window_ns > _WINDOW_NS:
            self._window_ns, self._n_window = now_ns, 0
        self._n_window += 1
        return self._n_window > _MOST
