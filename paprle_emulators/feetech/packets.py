"""Packets and checksum of Feetech servos.

``FF FF ID LENGTH CODE … CHECKSUM``; LENGTH counts all bytes after it, and CHECKSUM is
the inverted low byte of the sum from ID on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

HEADER = b"\xff\xff"  # spec: FT-SCS protocol manual, packet header
BROADCAST = 0xFE  # spec: FT-SCS protocol manual, ID of all servos
LEAST_LENGTH = 2  # spec: FT-SCS protocol manual, code and checksum
LONGEST_LENGTH = 250  # chosen: the vendor's SDK sends no more


def compute_checksum(body: bytes) -> int:
    """Return the checksum from ID on."""
    return ~sum(body) & 0xFF


def frame(servo: int, body: bytes) -> bytes:
    """Return a whole packet."""
    inside = bytes((servo, len(body) + 1)) + body
    return HEADER + inside + bytes((compute_checksum(inside),))


def make_instruction(servo: int, code: int, params: bytes = b"") -> bytes:
    """Return an instruction packet."""
    return frame(servo, bytes((code,)) + params)


def make_status(servo: int, error: int, params: bytes = b"") -> bytes:
    """Return a status packet."""
    return frame(servo, bytes((error,)) + params)


class Packet(NamedTuple):
    """A received packet.

    Attributes:
        code: Instruction, or error of a status packet.
        is_whole: The checksum is right.
    """

    servo: int
    code: int
    params: bytes
    is_whole: bool


class Parser:
    """Parser of a byte stream; resynchronises after noise."""

    def __init__(self) -> None:
        self.n_skipped = 0
        self._bytes = bytearray()

    def forget(self) -> None:
        """Drop a partial packet."""
        self._skip(len(self._bytes))

    def feed(self, data: bytes) -> Iterator[Packet]:
        """Yield completed packets."""
        self._bytes += data
        while (packet := self._take()) is not None:
            yield packet

    def _take(self) -> Packet | None:
        buffer = self._bytes
        while True:
            start = buffer.find(HEADER)
            rest = 1 if buffer[-1:] == HEADER[:1] else 0
            self._skip(start if start >= 0 else len(buffer) - rest)
            if start < 0 or len(buffer) < 4:
                return None
            if buffer[2] == HEADER[0]:  # one more byte of header: the ID comes later
                self._skip(1)
            elif not LEAST_LENGTH <= buffer[3] <= LONGEST_LENGTH:
                self._skip(len(HEADER))
            else:
                break
        size = buffer[3] + 4
        if len(buffer) < size:
            return None
        body = bytes(buffer[2 : size - 1])
        is_whole = compute_checksum(body) == buffer[size - 1]
        if is_whole:
            del buffer[:size]
        else:
            self._skip(len(HEADER))
        return Packet(body[0], body[2], body[3:], is_whole)

    def _skip(self, count: int) -> None:
        self.n_skipped += count
        del self._bytes[:count]
