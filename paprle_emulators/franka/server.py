"""The unit's ports."""

from __future__ import annotations

import contextlib
import select
import socket
from collections.abc import Iterator

from paprle_emulators.franka.protocol import (
    HAND_PORT,
    HAND_VERSION,
    ROBOT_PORT,
    ROBOT_VERSION,
    Request,
    pack_answer,
    pack_version,
    take_requests,
)

_VERSIONS = {ROBOT_PORT: ROBOT_VERSION, HAND_PORT: HAND_VERSION}
_INCOMPATIBLE = 1  # spec: service_types.h, Connect
_CHUNK = 4096  # chosen: bytes of one reading


class _Port:
    def __init__(self, address: str, number: int) -> None:
        self.address, self.number = address, number
        self.listener: socket.socket | None = None
        self.client: socket.socket | None = None
        self.buffer = bytearray()
        self.udp: socket.socket | None = None
        self.peer: tuple[str, int] | None = None

    def open(self) -> None:
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((self.address, self.number))
        self.listener.listen()
        self.listener.setblocking(False)
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind((self.address, 0))
        self.udp.setblocking(False)

    def drop(self) -> None:
        if self.client is not None:
            self.client.close()
        self.client = self.peer = None
        self.buffer.clear()

    def close(self) -> None:
        self.drop()
        for node in (self.listener, self.udp):
            if node is not None:
                node.close()
        self.listener = self.udp = None


class Server:
    """Ports of one address."""

    def __init__(self, address: str, has_hand: bool) -> None:
        self.address = address
        numbers = (ROBOT_PORT, HAND_PORT) if has_hand else (ROBOT_PORT,)
        self._ports = {number: _Port(address, number) for number in numbers}
        self.n_clients = 0

    def listen(self) -> None:
        """Open the ports.

        Raises:
            OSError: If one is taken.
        """
        for port in self._ports.values():
            port.open()

    def leave(self) -> None:
        """Close everything."""
        for port in self._ports.values():
            port.close()

    def has_client(self, number: int) -> bool:
        """Return whether a client asked for states."""
        port = self._ports.get(number)
        return port is not None and port.peer is not None

    def receive(self, timeout: float) -> tuple[list[Request], list[bytes]]:
        """Wait, [s]; return requests and robot commands."""
        nodes = {node: port for port in self._ports.values() for node in _list(port)}
        found, _, _ = select.select(list(nodes), [], [], timeout)
        requests: list[Request] = []
        packets: list[bytes] = []
        for node in found:
            port = nodes[node]
            if node is port.listener:
                self._accept(port)
            elif node is port.udp:
                packets += self._read_packets(node, port)
            elif node is port.client:
                requests += self._read_requests(port)
        return requests, packets

    def answer(self, number: int, data: bytes) -> None:
        """Answer a port's client."""
        port = self._ports[number]
        if port.client is not None:
            try:
                port.client.sendall(data)
            except OSError:
                port.drop()

    def send_state(self, number: int, data: bytes) -> None:
        """Send a port's client a state."""
        port = self._ports[number]
        if port.peer is not None and port.udp is not None:
            with contextlib.suppress(OSError):  # nobody listens there any more
                port.udp.sendto(data, port.peer)

    def _accept(self, port: _Port) -> None:
        if port.listener is None:
            return
        try:
            node, _ = port.listener.accept()
        except OSError:
            return
        if port.client is not None and _has_gone(port.client):
            port.drop()
        if port.client is not None:  # chosen: one client at a time
            node.close()
            return
        node.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        node.setblocking(False)
        port.client = node
        self.n_clients += port.number == ROBOT_PORT

    def _read_packets(self, node: socket.socket, port: _Port) -> list[bytes]:
        packets: list[bytes] = []
        with contextlib.suppress(OSError):
            while True:
                data, sender = node.recvfrom(_CHUNK)
                if sender == port.peer:
                    packets.append(data)
        return packets

    def _read_requests(self, port: _Port) -> list[Request]:
        if port.client is None:
            return []
        try:
            data = port.client.recv(_CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            port.drop()
            return []
        port.buffer += data
        try:
            return list(self._take(port))
        except ValueError:  # no client of this protocol
            port.drop()
            return []

    def _take(self, port: _Port) -> Iterator[Request]:
        for request in take_requests(port.number, port.buffer):
            if request.command != 0:
                yield request
                continue
            version, udp_port = request.read_connect()
            is_known = version == _VERSIONS[port.number]
            status = 0 if is_known else _INCOMPATIBLE
            rest = pack_version(port.number)
            self.answer(port.number, pack_answer(request, status, rest))
            if is_known and port.client is not None:
                port.peer = (port.client.getpeername()[0], udp_port)


def _has_gone(client: socket.socket) -> bool:
    try:
        return not client.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True


def _list(port: _Port) -> list[socket.socket]:
    nodes = (port.listener, port.client, port.udp)
    return [node for node in nodes if node is not None]
