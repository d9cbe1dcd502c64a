"""A pseudo-terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import termios
import tty
from pathlib import Path

CHUNK = 4096  # chosen: more than a client writes at once
TCGETS2 = 0x802C542A  # spec: Linux, asm-generic/ioctls.h
TERMIOS2 = struct.Struct("IIIIB19sII")  # spec: Linux, asm-generic/termbits.h
SPEEDS = {
    getattr(termios, name): int(name[1:])
    for name in dir(termios)
    if name.startswith("B") and name[1:].isdigit()
}


class Line:
    """One pseudo-terminal; ``master`` is -1 if unplugged."""

    def __init__(self, label: str, link_dir: Path | None) -> None:
        self._link = link_dir / label if link_dir else None
        self.master = self._slave = -1
        self.name = ""
        self.plug()

    def plug(self) -> None:
        """Open and link a new terminal."""
        self.unplug()
        self.master, self._slave = pty.openpty()
        # Raw before anyone opens it, or the line echoes; our own end of it stays open,
        # or the master fails as soon as a client closes.
        tty.setraw(self._slave)
        os.set_blocking(self.master, False)
        self.name = os.ttyname(self._slave)
        if self._link is not None:
            self.rename(self._link)

    def rename(self, link: Path) -> None:
        """Give the terminal a stable name."""
        if self._link is not None:
            self._link.unlink(missing_ok=True)
        self._link = link
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(os.ttyname(self._slave))
        self.name = str(link)

    def unplug(self) -> None:
        """Close the terminal."""
        for end in (self.master, self._slave):
            if end >= 0:
                os.close(end)
        self.master = self._slave = -1
        if self._link is not None:
            self._link.unlink(missing_ok=True)

    @property
    def baud(self) -> int | None:
        """Client's baud rate; None if unknown."""
        with contextlib.suppress(OSError):  # not on Linux: the standard rates only
            data = fcntl.ioctl(self._slave, TCGETS2, bytes(TERMIOS2.size))
            return int(TERMIOS2.unpack(data)[-1])
        return SPEEDS.get(termios.tcgetattr(self._slave)[5])

    def read(self) -> bytes:
        """Return received bytes."""
        with contextlib.suppress(BlockingIOError):
            return os.read(self.master, CHUNK)
        return b""

    def write(self, data: bytes) -> None:
        """Send; drop the overflow."""
        if data and self.master >= 0:
            with contextlib.suppress(BlockingIOError):
                os.write(self.master, data)
