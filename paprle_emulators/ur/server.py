"""Sockets of the controller."""

from __future__ import annotations

import contextlib
import selectors
import socket
from collections.abc import Callable, Mapping
from typing import Protocol

_CHUNK = 65_536  # [bytes]
_MOST_UNSENT = 1 << 20  # [bytes] chosen: a client that reads nothing is dropped


class Session(Protocol):
    """Conversation with one client."""

    def take(self, data: bytes) -> bytes:
        """Take bytes; return the answer."""

    def make_data(self) -> bytes:
        """Return this cycle's unasked data."""

    def leave(self) -> None:
        """Forget the client."""


class _Link:
    def __init__(self, sock: socket.socket, session: Session) -> None:
        self.sock, self.session = sock, session
        self.unsent = b""


class Server:
    """Listens at the ports of one address.

    Attributes:
        is_cut: Nothing passes, nothing closes.
        delay: Of data, [cycles].
    """

    def __init__(self, host: str, ports: Mapping[int, Callable[[], Session]]) -> None:
        """Listen.

        Raises:
            OSError: If a port is in use.
        """
        self._host, self._ports = host, ports
        self.selector = selectors.DefaultSelector()
        self._listeners: list[socket.socket] = []
        self._links: list[_Link] = []
        self._late: list[list[tuple[_Link, bytes]]] = []
        self.is_cut = False
        self.delay = 0
        self.listen()

    def listen(self) -> None:
        """Open all ports.

        Raises:
            OSError: If one is in use.
        """
        for port, make in self._ports.items():
            listener = socket.create_server((self._host, port), backlog=8)
            listener.setblocking(False)
            self._listeners.append(listener)
            accept = self._make_accept(listener, make)
            self.selector.register(listener, selectors.EVENT_READ, accept)

    def serve(self, timeout: float) -> None:
        """Serve clients, waiting [s] at most."""
        for key, _ in self.selector.select(timeout):
            key.data()

    def send(self) -> None:
        """Send this cycle's data."""
        due = [(link, link.session.make_data()) for link in self._links]
        self._late.append(due)
        while len(self._late) > self.delay:
            for link, data in self._late.pop(0):
                if data and link in self._links and not self.is_cut:
                    self._write(link, data)

    def cut(self, *, is_cut: bool) -> None:
        """Cut or restore the network; pending data come late."""
        self.is_cut = is_cut
        for link in self._links:
            if is_cut:
                self.selector.unregister(link.sock)
            else:
                self._watch(link)
        for listener in self._listeners:
            listener.listen(0 if is_cut else 8)

    def close(self) -> None:
        """Disconnect all clients and close the ports."""
        for link in list(self._links):
            self._drop(link)
        for listener in self._listeners:
            self.selector.unregister(listener)
            listener.close()
        self._listeners = []

    def _make_accept(
        self, listener: socket.socket, make: Callable[[], Session]
    ) -> Callable[[], None]:
        def accept() -> None:
            sock, _ = listener.accept()
            if self.is_cut:
                sock.close()
                return
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link = _Link(sock, make())
            self._links.append(link)
            self._watch(link)
            self._write(link, link.session.take(b""))

        return accept

    def _watch(self, link: _Link) -> None:
        self.selector.register(
            link.sock, selectors.EVENT_READ, lambda: self._receive(link)
        )

    def _receive(self, link: _Link) -> None:
        try:
            data = link.sock.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(link)
            return
        try:
            answer = link.session.take(data)
        except (ValueError, UnicodeDecodeError):
            self._drop(link)
            return
        if answer:
            self._write(link, answer)

    def _write(self, link: _Link, data: bytes) -> None:
        link.unsent += data
        try:
            sent = link.sock.send(link.unsent)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._drop(link)
            return
        link.unsent = link.unsent[sent:]
        if len(link.unsent) > _MOST_UNSENT:
            self._drop(link)

    def _drop(self, link: _Link) -> None:
        if link not in self._links:
            return
        self._links.remove(link)
        link.session.leave()
        with contextlib.suppress(KeyError):
            self.selector.unregister(link.sock)
        link.sock.close()
