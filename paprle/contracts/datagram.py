"""Datagrams of a link, with the address that each came from or goes to."""

from __future__ import annotations

from typing import Any

Address = tuple[Any, ...]


class Datagram(bytes):
    """The bytes of one datagram.

    Attributes:
        address: Where it came from, or where it goes, as its carrier has it; None: the
            carrier has one peer alone, or the peer that the settings name.
    """

    address: Address | None = None

    @classmethod
    def make(cls, data: bytes, address: Address | None) -> Datagram:
        """Return the datagram that came from an address, or goes there."""
        made = cls(data)
        made.address = address
        return made


def get_address(data: bytes) -> Address | None:
    """Return the address of a datagram; None where its carrier gave none."""
    return data.address if isinstance(data, Datagram) else None
