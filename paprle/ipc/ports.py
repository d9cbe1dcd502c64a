"""Ports between processes, inherited as descriptors by name.

A name may have an instance: ``sample:left``, ``frames:front``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from paprle.ipc.mailbox import ImageSlots, Mailbox, Ring


@dataclass(frozen=True)
class LatestPort:
    """Newest record of a dtype, for many readers."""

    dtype: np.dtype[np.void]

    def open(self, fd: int | None = None) -> Mailbox:
        """Open a descriptor; None makes the memory."""
        return Mailbox(self.dtype, fd)


@dataclass(frozen=True)
class Ordered:
    """Records in order for one reader; drops are counted."""

    n_bytes: int

    def open(self, fd: int | None = None) -> Ring:
        """Open a descriptor; None makes the memory."""
        return Ring(self.n_bytes, fd)


@dataclass(frozen=True)
class Frames:
    """Newest of images up to ``n_bytes``, for many readers."""

    n_bytes: int
    n: int = 3  # chosen: one being written, one newest, one being read

    def open(self, fd: int | None = None) -> ImageSlots:
        """Open a descriptor; None makes the memory."""
        return ImageSlots(self.n_bytes, self.n, fd)


Port = LatestPort | Ordered | Frames
OpenPort = Mailbox | Ring | ImageSlots


def make_ports(ports: Mapping[str, Port]) -> dict[str, OpenPort]:
    """Make the memory of ports, by name."""
    return {name: port.open() for name, port in ports.items()}


def name_port(kind: str, instance: str) -> str:
    """Return a port's name; the instance may be empty."""
    return f"{kind}:{instance}" if instance else kind


def split_name(name: str) -> tuple[str, str]:
    """Return kind and instance of a name, which may be empty."""
    kind, _, instance = name.partition(":")
    return kind, instance
