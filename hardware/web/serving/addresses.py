"""Addresses: USB, network, or given."""

from __future__ import annotations

import ipaddress
import socket
from typing import NamedTuple

import ifaddr

from paprle.hardware.web.errors import WebError

_LOOPBACK = "127.0.0.1"
_ELSEWHERE = ("192.0.2.1", 9)  # spec: RFC 5737; nothing is sent to it


class ListenAddress(NamedTuple):
    """A server's address.

    Attributes:
        names: For a browser.
        has_tls: Else for this machine alone.
    """

    address: str
    names: tuple[str, ...]
    has_tls: bool


def find_place(listen: str) -> ListenAddress:
    """Return the address for ``usb``, ``lan``, or a given one.

    Raises:
        WebError: No such address.
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
    """Return the address on the default route, or the only one.

    Raises:
        WebError: None, or several without a route.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ELSEWHERE)
            return str(probe.getsockname()[0])
        except OSError as err:
            cause = err
    found = _list_addresses()
    if len(found) == 1:
        return found[0]
    if found:
        raise WebError(
            f"listen: expected one network, got {', '.join(found)}; name the one of "
            f"the other device: listen={found[0]}"
        ) from cause
    raise WebError(
        f"listen: expected a network, got none ({cause}); connect this machine, or "
        "use a cable: listen=usb"
    ) from cause


def _list_addresses() -> list[str]:
    found = [
        one.ip
        for adapter in ifaddr.get_adapters()
        for one in adapter.ips
        if isinstance(one.ip, str)
    ]
    return [one for one in found if not ipaddress.ip_address(one).is_loopback]
