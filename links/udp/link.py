"""Datagrams over UDP: two ports a domain, and the peer's address alone is heard.

What they hold is sealed above, so that an address that somebody forged costs a look at
a seal. Behind a router that changes ports the peer is answered where it spoke from; as
long as it is heard from there nobody else is, whatever address he forges.
"""

from __future__ import annotations

import socket
import time
from typing import Any

from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Link
from paprle.contracts.settings import LinkSettings

_FIRST_PORT = 47100  # chosen: registered by nobody (IANA), below ephemeral ports
_LARGEST = 65535  # spec: RFC 768
_MOST = 256  # chosen: datagrams a look; the next look finds the others
_SILENT = 1.0  # [s] chosen: after that a router may have changed ports
_BUFFER = 1 << 18  # [bytes] chosen: a second of a narrow link, no more

Address = tuple[Any, ...]


class UdpLink(Link):
    """One end, a socket of its own."""

    config: LinkSettings

    def __init__(self, config: LinkSettings, name: str, *, is_leader: bool) -> None:
        super().__init__(config, name, is_leader=is_leader)
        self._socket: socket.socket | None = None
        self._peer: Address | None = None
        self._heard = -_SILENT

    def open(self) -> None:
        """Bind the port of this end.

        Raises:
            DeviceError: If the peer's address is none, or the port is taken.
        """
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
        """Send a datagram; see ``Link``."""
        if self._socket is None or self._peer is None:
            return False
        try:
            return self._socket.sendto(data, self._peer) == len(data)
        except OSError:  # no room, or nobody listens there yet
            return False

    def receive(self) -> list[bytes]:
        """Return what has arrived from the peer; see ``Link``."""
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
                self._note(sender)
                arrived.append(data)
        return arrived

    def _note(self, sender: Address) -> None:
        """Answer a sender from now on, unless another port is heard."""
        now = time.monotonic()
        if sender == self._peer or now - self._heard >= _SILENT:
            self._peer, self._heard = sender, now

    def close(self) -> None:
        """Give the port back; may be called twice."""
        if self._socket is not None:
            self._socket.close()
        self._socket = self._peer = None


def list_ports(domain: int, *, is_leader: bool) -> tuple[int, int]:
    """Return the port of this end and that of the other."""
    leader, follower = _FIRST_PORT + 2 * domain, _FIRST_PORT + 2 * domain + 1
    return (leader, follower) if is_leader else (follower, leader)


def _find_address(peer: str, port: int) -> tuple[socket.AddressFamily, Address]:
    """Return the peer's first address.

    Raises:
        DeviceError: If its name has none.
    """
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
    """Return the address of this host's network.

    Raises:
        OSError: If there is no such address here.
    """
    found = socket.getaddrinfo(
        interface, None, family, socket.SOCK_DGRAM, flags=socket.AI_NUMERICHOST
    )
    return str(found[0][4][0])
