"""TCP ports of an emulated controller, with the faults of its line."""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Mapping

from paprle_emulators.vendor_arm.line import Line

_CHUNK = 65_536  # [bytes] chosen: of one reading
_MOST_UNSENT = 1 << 20  # [bytes] chosen: a client that reads nothing is dropped
_BACKLOG = 8  # chosen
_RESET = struct.pack("ii", 1, 0)  # spec: struct linger of socket(7): closes with RST


class Session:
    """Conversation with one client."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def take(self, data: bytes) -> bytes:  # noqa: ARG002 - the base answers nothing
        """Return the answer to received bytes; ValueError drops the client."""
        return b""

    def report(self) -> bytes:
        """Return this cycle's unasked data."""
        return b""

    def leave(self) -> None:
        """Forget the client."""


class Link:
    """Connection of one client.

    Attributes:
        peer: Its address.
    """

    def __init__(self, server: Server, sock: socket.socket, port: int) -> None:
        self._server, self.sock, self.port = server, sock, port
        self.peer: str = sock.getpeername()[0]
        self.session = Session(self)
        self.unsent = b""

    def send(self, data: bytes) -> None:
        """Send, as late as the line is."""
        self._server.post(self, data)


MakeSession = Callable[[Link], Session]


class Server:
    """Ports of one address.

    While the line is cut, received and sent data wait, as TCP repeats them; a client
    that has gone meanwhile is forgotten with its data. A switching of power resets all
    connections.

    Attributes:
        selector: Calls the data of a readable file.
    """

    def __init__(
        self,
        address: str,
        ports: Mapping[int, MakeSession],
        line: Line,
        *,
        most_clients: int = 8,
    ) -> None:
        """Describe ports; ``listen`` opens them.

        Args:
            address: On the loopback.
            ports: Their sessions, by number.
            line: Cable and power.
            most_clients: Of a port; others are disconnected.
        """
        self.address, self.line = address, line
        self._ports, self._most = ports, most_clients
        self.selector = selectors.DefaultSelector()
        self._listeners: dict[socket.socket, int] = {}
        self._links: list[Link] = []
        self._waiting: deque[tuple[int, Link, bytes]] = deque()
        self._is_cut, self._n_boots = False, 0

    def listen(self) -> None:
        """Open all ports.

        Raises:
            OSError: If one is in use or forbidden.
        """
        for port in self._ports:
            listener = socket.create_server((self.address, port), backlog=_BACKLOG)
            listener.setblocking(False)
            self._listeners[listener] = port
            if not self._is_cut:
                self._watch_listener(listener)

    def serve(self, timeout: float) -> None:
        """Serve clients and other files, waiting [s] at most."""
        for key, _ in self.selector.select(timeout):
            key.data()
        self._flush()

    def send(self) -> None:
        """Send this cycle's reports, and late data."""
        line = self.line
        for link in tuple(self._links):
            data = link.session.report()
            if data and not line.is_silent and not line.loses():
                self.post(link, data)
        self._flush()

    def post(self, link: Link, data: bytes) -> None:
        """Send to a client after the line's delay."""
        if data:
            self._waiting.append((time.monotonic_ns() + self.line.delay_ns, link, data))
            self._flush()

    def obey_line(self) -> None:
        """Cut, restore or restart as the line is.

        Raises:
            OSError: If a port was taken meanwhile.
        """
        line = self.line
        if line.n_boots != self._n_boots:
            self._n_boots = line.n_boots
            self._disconnect(is_reset=True)
            if not line.is_off:
                self.listen()
        if line.is_cut != self._is_cut:
            self._is_cut = line.is_cut
            (self._cut if line.is_cut else self._restore)()

    def close(self) -> None:
        """Close everything."""
        self._disconnect(is_reset=False)
        self.selector.close()

    def _disconnect(self, *, is_reset: bool) -> None:
        for link in tuple(self._links):
            if is_reset:
                with contextlib.suppress(OSError):
                    link.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self._drop(link)
        for listener in self._listeners:
            self._ignore(listener)
            listener.close()
        self._listeners.clear()
        self._waiting.clear()

    def _cut(self) -> None:
        for link in self._links:
            self._ignore(link.sock)
        for listener in self._listeners:
            self._ignore(listener)
            listener.listen(0)

    def _restore(self) -> None:
        for listener in self._listeners:
            listener.listen(_BACKLOG)
            self._watch_listener(listener)
        for link in tuple(self._links):
            if link.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                self._drop(link)  # what a client has taken back never comes
            else:
                self._watch_link(link)
                self._write(link, b"")

    def _watch_listener(self, listener: socket.socket) -> None:
        def accept() -> None:
            self._accept(listener)

        self.selector.register(listener, selectors.EVENT_READ, accept)

    def _watch_link(self, link: Link) -> None:
        def receive() -> None:
            self._receive(link)

        self.selector.register(link.sock, selectors.EVENT_READ, receive)

    def _ignore(self, sock: socket.socket) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self.selector.unregister(sock)

    def _accept(self, listener: socket.socket) -> None:
        port = self._listeners.get(listener)
        if port is None or self._is_cut:
            return
        try:
            sock, _ = listener.accept()
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link = Link(self, sock, port)
        except OSError:
            return  # it has gone again
        if not self._has_room(port):
            sock.close()
            return
        self._links.append(link)
        self._watch_link(link)
        link.session = self._ports[port](link)

    def _has_room(self, port: int) -> bool:
        links = [link for link in self._links if link.port == port]
        for link in links:
            if _has_gone(link.sock):
                self._drop(link)
        return sum(link.port == port for link in self._links) < self._most

    def _receive(self, link: Link) -> None:
        if self._is_cut or link not in self._links:
            return
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
        except ValueError:  # no client of this protocol
            self._drop(link)
            return
        self.post(link, answer)

    def _flush(self) -> None:
        now = time.monotonic_ns()
        while self._waiting and self._waiting[0][0] <= now:
            _, link, data = self._waiting.popleft()
            if link in self._links:
                self._write(link, data)
        for link in tuple(self._links):
            if link.unsent:
                self._write(link, b"")

    def _write(self, link: Link, data: bytes) -> None:
        link.unsent += data
        if not self._is_cut and link.unsent:
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

    def _drop(self, link: Link) -> None:
        if link not in self._links:
            return
        self._links.remove(link)
        self._ignore(link.sock)
        link.session.leave()
        link.sock.close()


def _has_gone(sock: socket.socket) -> bool:
    try:
        return not sock.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
