"""A lossy radio.

A lost segment delays all later ones by a round trip and three segments at best.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from dataclasses import dataclass

_CHUNK = 65_536
_READY = 5.0  # [s] chosen: a busy machine


@dataclass(frozen=True, kw_only=True, slots=True)
class Radio:
    """Impairments of a radio.

    Attributes:
        delay: One way, [s].
        loss: Share of repeated segments.
        again: Of a repetition, [s].
        stall: [s].
        every: Period of stalls, [s]; 0: never.
    """

    delay: float = 0.0
    loss: float = 0.0
    again: float = 0.07
    stall: float = 0.0
    every: float = 0.0
    seed: int = 0


class Proxy:
    """Proxy over a radio."""

    def __init__(self, server: tuple[str, int], radio: Radio) -> None:
        self._server, self._radio = server, radio
        self._random = random.Random(radio.seed)
        self.address = ("127.0.0.1", 0)
        self.n_lost = self.n_stalls = 0
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._stalled_until = 0.0
        self._thread = threading.Thread(target=self._run, name="proxy")

    def open(self) -> None:
        """Listen."""
        self._thread.start()
        self._ready.wait(_READY)

    def close(self) -> None:
        """Cut all connections."""
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_READY)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._carry, self.address[0], 0)
        self.address = server.sockets[0].getsockname()[:2]
        stalling = asyncio.create_task(self._stall())
        self._ready.set()
        await self._stop.wait()
        stalling.cancel()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _stall(self) -> None:
        while self._radio.every > 0 and self._loop is not None:
            await asyncio.sleep(self._radio.every)
            self._stalled_until = self._loop.time() + self._radio.stall
            self.n_stalls += 1

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        there_reader, there_writer = await asyncio.open_connection(*self._server)
        await asyncio.gather(
            self._copy(reader, there_writer), self._copy(there_reader, writer)
        )

    async def _copy(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        sending = asyncio.create_task(self._send(waiting, writer))
        loop, due = asyncio.get_running_loop(), 0.0
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK):
                due = max(due, self._stalled_until, loop.time() + self._radio.delay)
                if self._random.random() < self._radio.loss:
                    self.n_lost += 1
                    due += self._radio.again
                waiting.put_nowait((due, data))
        waiting.put_nowait((due, b""))
        await sending

    async def _send(
        self, waiting: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter
    ) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):
            while True:
                due, data = await waiting.get()
                await asyncio.sleep(due - loop.time())
                if not data:
                    break
                writer.write(data)
                await writer.drain()
        writer.close()
