"""Declarations of ports between processes: the kind, and how either end is opened.

A port belongs to the session, which makes the memory; each process is given the
descriptor of the ports that it reads and writes, by name, and opens them by the same
declaration. A name may have an instance: ``sample:left``, ``frames:front``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from paprle.ipc.mailbox import ImageSlots, Mailbox, Ring


@dataclass(frozen=True)
class Latest:
    """One record of a fixed dtype: the newest wins, many readers.

    Attributes:
        dtype: Of the record.
    """

    dtype: np.dtype[np.void]

    def open(self, fd: int | None = None) -> Mailbox:
        """Open it in a process that inherited it; without descriptor, make it."""
        return Mailbox(self.dtype, fd)


@dataclass(frozen=True)
class Ordered:
    """Records in order for one reader; those that find no room are counted.

    Attributes:
        n_bytes: Room for what was not read yet, [bytes].
    """

    n_bytes: int

    def open(self, fd: int | None = None) -> Ring:
        """Open it in a process that inherited it; without descriptor, make it."""
        return Ring(self.n_bytes, fd)


@dataclass(frozen=True)
class Frames:
    """Images: the newest wins, many readers.

    Attributes:
        n_bytes: Largest size of one as it is encoded, [bytes].
        n: Number of slots.
    """

    n_bytes: int
    n: int = 3  # chosen: one being written, one newest, one being read

    def open(self, fd: int | None = None) -> ImageSlots:
        """Open it in a process that inherited it; without descriptor, make it."""
        return ImageSlots(self.n_bytes, self.n, fd)


Port = Latest | Ordered | Frames
OpenPort = Mailbox | Ring | ImageSlots


def make_ports(ports: Mapping[str, Port]) -> dict[str, OpenPort]:
    """Make the memory of ports, by name: what the session does."""
    return {name: port.open() for name, port in ports.items()}


def name_port(kind: str, instance: str) -> str:
    """Return the name of a port that there is one of for each instance.

    Args:
        kind: What it carries, for example ``sample``.
        instance: Whose it is; empty where there is only one.

    Returns:
        Its name.
    """
    return f"{kind}:{instance}" if instance else kind


def split_name(name: str) -> tuple[str, str]:
    """Return the kind of a role or port, and whose it is; empty for an only one."""
    kind, _, instance = name.partition(":")
    return kind, instance
