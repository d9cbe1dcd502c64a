"""Datagrams over UDP: two ports per domain, only the peer's host accepted.

A router may change the peer's port: answers go to the address of a datagram with a
valid seal, which the link's ends check.
"""

from __future__ import annotations

import socket

from paprle.contracts.datagram import Address, Datagram, get_address
from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Link
from paprle.contracts.settings.core import LinkSettings

_FIRST_PORT = 47100  # chosen: registered by nobody (IANA), below ephemeral ports
_LARGEST = 65535  # spec: RFC 768
_MOST = 512  # chosen: datagrams a look, 100,000 a second of 200 looks
_BUFFER = 1 << 18  # [bytes] chosen: a second of a narrow link, no more


class UdpLink(Link):
    """One end, a socket of its own."""

    config: LinkSettings

    def __init__(self, config: LinkSettings, name: str, *, is_leader: bool) -> None:
        super().__init__(config, name, is_leader=is_leader)
        self._socket: socket.socket | None = None
        self._peer: Address | None = None

    def open(self) -> None:
        """Bind the port of this end."""
        self.close()
        ours, theirs = list_ports(self.config.domain, is_leader=self.is_leader)
        family = socket.AF_INET
        if self.config.peer:
            family, self._peer = _find_address(self.config.peer, theirs)
        interface = self.config.interface
        try:
            host = "" if interface == "auto" else _find_host(interface, family)
            self._socket = socket.socket(family, socket.SOCK_DGRAM)
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
            self._socket.bind((host, ours))
        except OSError as err:
            self.close()
            raise DeviceError(
                f"link: expected UDP port {ours} to be free here on "
                f"'{interface}', got {err.strerror or err}; choose another link.domain "
                "on both hosts, or another link.interface"
            ) from err

    def send(self, data: bytes) -> bool:
        """Send a datagram."""
        address = get_address(data) or self._peer
        if self._socket is None or address is None:
            return False
        try:
            return self._socket.sendto(data, address) == len(data)
        except OSError:  # no room, or nobody listens there yet
            return False

    def receive(self) -> list[bytes]:
        """Return datagrams of the peer."""
        arrived: list[bytes] = []
        for _ in range(_MOST):
            if self._socket is None:
                break
            try:
                data, sender = self._socket.recvfrom(_LARGEST)
            except BlockingIOError:
                break
            except OSError:  # word of an earlier one that found nobody
                continue
            if self._peer is None or sender[0] == self._peer[0]:
                arrived.append(Datagram.make(data, sender))
        return arrived

    def close(self) -> None:
        """Release the port."""
        if self._socket is not None:
            self._socket.close()
        self._socket = self._peer = None


def list_ports(domain: int, *, is_leader: bool) -> tuple[int, int]:
    """Return both ends' ports."""
    leader, follower = _FIRST_PORT + 2 * domain, _FIRST_PORT + 2 * domain + 1
    return (leader, follower) if is_leader else (follower, leader)


def _find_address(peer: str, port: int) -> tuple[socket.AddressFamily, Address]:
    try:
        found = socket.getaddrinfo(peer, port, type=socket.SOCK_DGRAM)
    except OSError as err:
        raise DeviceError(
            f"link.peer: expected an address or a name that has one, got '{peer}' "
            f"({err.strerror or err})"
        ) from err
    family, *_, address = found[0]
    return family, address


def _find_host(interface: str, family: socket.AddressFamily) -> str:
    found = socket.getaddrinfo(
        interface, None, family, socket.SOCK_DGRAM, flags=socket.AI_NUMERICHOST
    )
    return str(found[0][4][0])
