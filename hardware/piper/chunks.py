"""Reads a serial port in chunks for a reader that asks for one byte at a time.

python-can's slcan bus makes two system calls a byte, 44 a frame. A PiPER at 200 Hz
sends about 2900 frames a second: on a busy computer their reader falls behind for good.
"""

from __future__ import annotations

from typing import Any


class ChunkedPort:
    """A pyserial port whose reads come from what it had waiting; else the port."""

    def __init__(self, port: Any) -> None:
        self._port = port
        self._chunk, self._taken = b"", 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)

    @property
    def in_waiting(self) -> int:
        """Number of bytes that can be read at once."""
        return len(self._chunk) - self._taken + int(self._port.in_waiting)

    def read(self, size: int = 1) -> bytes:
        """Return up to so many bytes; none when none came within the port's timeout."""
        if self._taken == len(self._chunk):
            self._chunk = self._port.read(max(size, self._port.in_waiting))
            self._taken = 0
        begin = self._taken
        self._taken = min(begin + size, len(self._chunk))
        return self._chunk[begin : self._taken]

    def reset_input_buffer(self) -> None:
        """Forget what has come so far."""
        self._chunk, self._taken = b"", 0
        self._port.reset_input_buffer()
