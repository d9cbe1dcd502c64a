"""Ports between processes: kind, and opening of either end.

The session makes the memory; processes inherit descriptors by name. A name may have an
instance: ``sample:left``, ``frames:front``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from paprle.ipc.mailbox import ImageSlots, Mailbox, Ring


@dataclass(frozen=True)
class Latest:
    """The newest record of a dtype, for many readers."""

    dtype: np.dtype[np.void]

    def open(self, fd: int | None = None) -> Mailbox:
        """Open an inherited descriptor; None makes the memory."""
        return Mailbox(self.dtype, fd)


@dataclass(frozen=True)
class Ordered:
    """Records in order for one reader; drops are counted.

    Attributes:
        n_bytes: Room for unread records, [bytes].
    """

    n_bytes: int

    def open(self, fd: int | None = None) -> Ring:
        """Open an inherited descriptor; None makes the memory."""
        return Ring(self.n_bytes, fd)


@dataclass(frozen=True)
class Frames:
    """The newest image, for many readers.

    Attributes:
        n_bytes: Largest encoded size, [bytes].
        n: Number of slots.
    """

    n_bytes: int
    n: int = 3  # chosen: one being written, one newest, one being read

    def open(self, fd: int | None = None) -> ImageSlots:
        """Open an inherited descriptor; None makes the memory."""
        return ImageSlots(self.n_bytes, self.n, fd)


Port = Latest | Ordered | Frames
OpenPort = Mailbox | Ring | ImageSlots


def make_ports(ports: Mapping[str, Port]) -> dict[str, OpenPort]:
    """Make the memory of ports, by name."""
    return {name: port.open() for name, port in ports.items()}


def name_port(kind: str, instance: str) -> str:
    """Return a port's name for a kind and an instance, which may be empty."""
    return f"{kind}:{instance}" if instance else kind


def split_name(name: str) -> tuple[str, str]:
    """Return kind and instance of a role or port; empty for a single one."""
    kind, _, instance = name.partition(":")
    return kind, instance
