"""The control box's ports."""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
from collections import deque
from collections.abc import Iterator

from paprle_emulators.xarm.protocol import (
    CONTROL,
    NORMAL,
    PASSTHROUGH,
    PROTOCOLS,
    REAL,
    REALTIME,
    RICH,
    Request,
    take_requests,
)

REPORT_PORTS = (REALTIME, NORMAL, RICH, REAL)
_RESET = struct.pack("ii", 1, 0)  # spec: struct linger of socket(7): closes with RST
_CHUNK = 4096  # chosen: bytes of one reading


class Server:
    """Clients of one address."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._selector = selectors.DefaultSelector()
        self._listeners: list[socket.socket] = []
        self._buffers: dict[socket.socket, bytearray] = {}
        self._readers: dict[socket.socket, int] = {}
        self._answers: deque[tuple[int, socket.socket, bytes]] = deque()

    def listen(self) -> None:
        """Open the ports.

        Raises:
            OSError: If one is taken or forbidden.
        """
        for port in (CONTROL, PASSTHROUGH, *REPORT_PORTS):
            listener = socket.socket()
            self._listeners.append(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self.address, port))
            listener.listen()
            listener.setblocking(False)
            self._selector.register(listener, selectors.EVENT_READ, port)

    def leave(self) -> None:
        """Close everything, as at a restart."""
        for node in [*self._buffers, *self._readers]:
            with contextlib.suppress(OSError):
                node.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self._drop(node)
        for listener in self._listeners:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(listener)
            listener.close()
        self._listeners.clear()
        self._answers.clear()

    def close(self) -> None:
        """Close everything for good."""
        self.leave()
        self._selector.close()

    def drop_reset(self) -> None:
        """Drop lost clients and their requests."""
        for node in [*self._buffers, *self._readers]:
            if node.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                self._drop(node)

    def has_readers(self, port: int) -> bool:
        """Return whether a port has readers."""
        return port in self._readers.values()

    def receive(self, timeout: float) -> Iterator[tuple[socket.socket, Request]]:
        """Yield requests, waiting [s] at most."""
        for key, _ in self._selector.select(timeout):
            node = key.fileobj
            if not isinstance(node, socket.socket):
                continue
            if key.data is not None:
                self._accept(node, key.data)
                continue
            buffer = self._read(node)
            try:
                for request in take_requests(buffer):
                    if request.protocol in PROTOCOLS:
                        yield node, request
            except ValueError:  # no client of this protocol
                self._drop(node)

    def answer(self, node: socket.socket, data: bytes, due_ns: int) -> None:
        """Send to a client at a time, [ns]."""
        self._answers.append((due_ns, node, data))

    def flush(self, now_ns: int) -> None:
        """Send due answers."""
        while self._answers and self._answers[0][0] <= now_ns:
            _, node, data = self._answers.popleft()
            self._send(node, data)

    def announce(self, data: bytes) -> None:
        """Send to all control clients."""
        for node in list(self._buffers):
            self._send(node, data)

    def report(self, port: int, reports: list[bytes]) -> None:
        """Send reports to a port's readers."""
        data = b"".join(reports)
        for node in [node for node, at in self._readers.items() if at == port]:
            self._send(node, data)

    def _accept(self, listener: socket.socket, port: int) -> None:
        try:
            node, _ = listener.accept()
        except OSError:
            return
        node.setblocking(False)
        node.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if port in REPORT_PORTS:
            self._readers[node] = port
        else:
            self._buffers[node] = bytearray()
        self._selector.register(node, selectors.EVENT_READ, None)

    def _read(self, node: socket.socket) -> bytearray:
        buffer = self._buffers.get(node, bytearray())
        try:
            data = node.recv(_CHUNK)
        except BlockingIOError:
            return buffer
        except OSError:
            data = b""
        if not data:
            self._drop(node)
            return bytearray()
        if node in self._buffers:
            buffer += data
        return buffer

    def _send(self, node: socket.socket, data: bytes) -> None:
        try:
            if data and node.fileno() >= 0 and node.send(data) < len(data):
                self._drop(node)  # the rest would be no frame
        except BlockingIOError:
            return  # nobody reads there
        except OSError:
            self._drop(node)

    def _drop(self, node: socket.socket) -> None:
        self._buffers.pop(node, None)
        self._readers.pop(node, None)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(node)
        node.close()
