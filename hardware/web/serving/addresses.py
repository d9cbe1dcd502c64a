"""Addresses of a page: over USB, on the network of this machine, or a given one."""

from __future__ import annotations

import ipaddress
import socket
from typing import NamedTuple

from paprle.hardware.web.errors import WebError

_LOOPBACK = "127.0.0.1"
_ELSEWHERE = ("192.0.2.1", 9)  # spec: RFC 5737; nothing is sent to it


class ListenAddress(NamedTuple):
    """Address on which a server listens.

    Attributes:
        address: The address.
        names: Names by which a browser may reach it.
        has_tls: Whether it speaks TLS. Without it only this machine reaches it, by a
            name that browsers trust.
    """

    address: str
    names: tuple[str, ...]
    has_tls: bool


def find_place(listen: str) -> ListenAddress:
    """Return where to listen.

    Args:
        listen: ``usb`` (this machine alone, for a phone on a cable), ``lan`` (the
            address of this machine on its network), or an address of this machine.

    Returns:
        The place.

    Raises:
        WebError: If there is no such address.
    """
    if listen == "usb":
        return ListenAddress(_LOOPBACK, (_LOOPBACK, "localhost"), has_tls=False)
    address = find_lan_address() if listen == "lan" else listen
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError as err:
        raise WebError(
            f"listen: expected usb, lan or an address of this machine, got {listen!r}"
        ) from err
    if parsed.is_unspecified or parsed.version != 4:
        raise WebError(
            f"listen: expected one IPv4 address, got {address}; a page is reached at "
            "the address that its certificate names"
        )
    return ListenAddress(address, (address,), has_tls=True)


def find_lan_address() -> str:
    """Return the address that this machine has on its network.

    Returns:
        The address of the interface that leads elsewhere.

    Raises:
        WebError: If there is none.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ELSEWHERE)
        except OSError as err:
            raise WebError(
                f"listen: expected a network, got none ({err}); connect this machine, "
                "or use a cable: listen=usb"
            ) from err
        return str(probe.getsockname()[0])
