"""Datagrams of a link with an address."""

from __future__ import annotations

from typing import Any

Address = tuple[Any, ...]


class Datagram(bytes):
    """Bytes with an ``address``; None is the only or configured peer."""

    address: Address | None = None

    @classmethod
    def make(cls, data: bytes, address: Address | None) -> Datagram:
        """Return a datagram with an address."""
        made = cls(data)
        made.address = address
        return made


def get_address(data: bytes) -> Address | None:
    """Return the address of a datagram, if any."""
    return data.address if isinstance(data, Datagram) else None
