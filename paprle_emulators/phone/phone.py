"""A phone at PAPRLE's page, over real TLS, with faults.

Messages are JSON in a WebSocket of two subprotocols, ``paprle`` and the token:
``hello`` first, then ``sample``; ``clock`` is answered (leaders/webxr/README.md).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

VERSION = 1  # spec: leaders/webxr, of the messages
PROTOCOL = "paprle"  # spec: leaders/webxr, WebSocket subprotocol
Numbers = Sequence[float]
_T = TypeVar("_T")
_UNIT = (0.0, 0.0, 0.0, 1.0)
_PATIENCE = 5.0  # [s] chosen: a busy machine


class EmulatedPhone:
    """A phone; ``skew`` is in [s]."""

    def __init__(
        self,
        address: str,
        *,
        certificate: str = "",
        limbs: Sequence[str] = ("hand",),
        page: str = "emulated",
        through: tuple[str, int] | None = None,
    ) -> None:
        self.status: dict[str, Any] = {}
        self.skew = 0.0
        self.seq = self.press = 0
        self.is_held = self.is_mute = False
        self.scale, self.mode = 1.0, "all"
        self.counts = {"stop": 0, "next_episode": 0, "discard": 0}
        self._limbs = tuple(limbs)
        self._line = Line(address, certificate, through)
        self.send_text(json.dumps({"type": "hello", "version": VERSION, "page": page}))
        self._line.listen(self._hear)

    def hold(self) -> None:
        """Press the dead-man."""
        self.press += 1
        self.is_held = True

    def let_go(self) -> None:
        """Release the dead-man."""
        self.is_held = False

    def make_sample(
        self, p: Numbers = (0, 0, 0), q: Numbers = _UNIT, **changes: object
    ) -> dict[str, Any]:
        """Return the next message, changed as given.

        ``p`` is in axes of WebXR, [m]; ``q`` is x, y, z, w.
        """
        self.seq += 1
        hand = {
            "p": [float(x) for x in p],
            "q": [float(x) for x in q],
            "tracked": True,
            "held": self.is_held,
            "press": self.press,
            "opening": 1.0,
            "gap": None,
        }
        hand.update({k: changes.pop(k) for k in tuple(changes) if k in hand})
        return {
            "type": "sample",
            "seq": self.seq,
            "t": self._read_clock(),
            "limbs": dict.fromkeys(self._limbs, hand),
            "scale": self.scale,
            "mode": self.mode,
            "actions": dict(self.counts),
            **changes,
        }

    def tell(
        self, p: Numbers = (0, 0, 0), q: Numbers = _UNIT, **changes: object
    ) -> None:
        """Send the next message."""
        self.send(self.make_sample(p, q, **changes))

    def try_tell(self, p: Numbers) -> bool:
        """Send a position; return success."""
        try:
            self.tell(p)
        except ConnectionClosed:
            return False
        return True

    def send(self, message: Mapping[str, object]) -> None:
        """Send a message."""
        self.send_text(json.dumps(message))

    def send_text(self, text: str | bytes) -> None:
        """Send raw text."""
        self._line.send(text)

    def drop(self) -> None:
        """Drop the connection without closing."""
        self._line.drop()

    def close(self) -> None:
        """Close the connection."""
        self._line.close()

    def _read_clock(self) -> float:
        return (time.monotonic_ns() * 1e-9 + self.skew) * 1e3

    def _hear(self, data: str | bytes) -> str | None:
        message = json.loads(data)
        if self.is_mute:
            return None
        if message["type"] == "status":
            self.status = message
        if message["type"] == "clock":
            return json.dumps({**message, "t": self._read_clock()})
        return None


class Line:
    """The page's socket, usable from any thread.

    One thread reads and writes: before Python 3.13 concurrent use of a TLS session
    loses data, as in ``websockets.sync``.
    """

    def __init__(
        self,
        address: str,
        certificate: str = "",
        through: tuple[str, int] | None = None,
    ) -> None:
        """Open an address with ``#`` token; no certificate accepts any."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="emulated phone"
        )
        self._thread.start()
        try:
            self.connection = self._do(_open(address, certificate, through))
        except BaseException:
            self._end()
            raise

    def listen(self, hear: Callable[[str | bytes], str | None]) -> None:
        """Pass messages to an answering callback."""
        asyncio.run_coroutine_threadsafe(self._listen(hear), self._loop)

    def send(self, data: str | bytes) -> None:
        """Send raw data; raise ``ConnectionClosed`` if closed."""
        self._do(self.connection.send(data))

    def drop(self) -> None:
        """Drop the connection without closing."""
        self._loop.call_soon_threadsafe(self.connection.transport.abort)
        self._end()

    def close(self) -> None:
        """Close the connection."""
        if not self._loop.is_closed():
            self._do(self.connection.close())
            self._end()

    async def _listen(self, hear: Callable[[str | bytes], str | None]) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for data in self.connection:
                answer = hear(data)
                if answer is not None:
                    await self.connection.send(answer)

    def _do(self, what: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result()

    def _end(self) -> None:
        self._do(_settle())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE)
        self._loop.close()


async def _settle() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=_PATIENCE)


async def _open(
    address: str, certificate: str, through: tuple[str, int] | None
) -> ClientConnection:
    parts = urlsplit(address)
    context = None
    if parts.scheme == "https":
        context = ssl.create_default_context(cafile=certificate or None)
        if not certificate:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
    scheme = "ws" if context is None else "wss"
    sock = None if through is None else socket.create_connection(through, _PATIENCE)
    return await connect(
        f"{scheme}://{parts.netloc}/leader",
        ssl=context,
        server_hostname=parts.hostname if context is not None else None,
        origin=Origin(f"{parts.scheme}://{parts.netloc}"),
        subprotocols=[Subprotocol(PROTOCOL), Subprotocol(parts.fragment)],
        compression=None,
        proxy=None,
        open_timeout=_PATIENCE,
        sock=sock,
    )
