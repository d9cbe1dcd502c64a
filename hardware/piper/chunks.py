"""Chunked serial port for python-can's slcan bus.

The bus makes two system calls a byte, too slow for 2900 frames a second.
"""

from __future__ import annotations

from typing import Any


class ChunkedPort:
    """A pyserial port with buffered reads."""

    def __init__(self, port: Any) -> None:
        self._port = port
        self._chunk, self._taken = b"", 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)

    @property
    def in_waiting(self) -> int:
        """Readable bytes."""
        return len(self._chunk) - self._taken + int(self._port.in_waiting)

    def read(self, size: int = 1) -> bytes:
        """Return up to ``size`` bytes within the port's timeout."""
        if self._taken == len(self._chunk):
            self._chunk = self._port.read(max(size, self._port.in_waiting))
            self._taken = 0
        begin = self._taken
        self._taken = min(begin + size, len(self._chunk))
        return self._chunk[begin : self._taken]

    def reset_input_buffer(self) -> None:
        """Discard received bytes."""
        self._chunk, self._taken = b"", 0
        self._port.reset_input_buffer()
