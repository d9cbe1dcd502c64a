"""Protocol 2.0: CRC, byte stuffing and packets.

References:
    https://emanual.robotis.com/docs/en/dxl/protocol2/
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

HEADER = b"\xff\xff\xfd\x00"  # spec: protocol 2.0, packet header and reserved byte
BROADCAST = 0xFE  # spec: protocol 2.0, packet ID
STATUS = 0x55  # spec: protocol 2.0, instruction field of a status packet
POLYNOMIAL = 0x8005  # spec: protocol 2.0, CRC-16 (IBM)
LONGEST = 1024  # chosen: no instruction for 253 servos of ours is longer
SPELT = b"\xff\xff\xfd"  # spec: protocol 2.0, what a body must not spell


def make_crc_table() -> tuple[int, ...]:
    """Return the CRC table."""
    table = []
    for byte in range(256):
        crc = byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ (POLYNOMIAL if crc & 0x8000 else 0)
        table.append(crc & 0xFFFF)
    return tuple(table)


CRC_TABLE = make_crc_table()
PAIRS = tuple(
    ((crc := CRC_TABLE[first]) << 8 & 0xFFFF) ^ CRC_TABLE[crc >> 8 ^ second]
    for first in range(256)
    for second in range(256)
)
"""Remainders of all pairs of bytes: half the steps."""


def compute_crc(data: bytes, crc: int = 0) -> int:
    """Return or continue a CRC."""
    n_pairs = len(data) // 2
    for pair in struct.unpack_from(f">{n_pairs}H", data):
        crc = PAIRS[crc ^ pair]
    if len(data) % 2:
        crc = ((crc << 8) & 0xFFFF) ^ CRC_TABLE[(crc >> 8) ^ data[-1]]
    return crc


def stuff(body: bytes) -> bytes:
    """Stuff a body: FF FF FD gets another FD."""
    return body.replace(SPELT, SPELT + b"\xfd") if SPELT in body else body


def unstuff(body: bytes) -> bytes:
    """Return an unstuffed body."""
    return body.replace(SPELT + b"\xfd", SPELT) if SPELT in body else body


def frame(servo: int, body: bytes) -> bytes:
    """Return a stuffed packet."""
    stuffed = stuff(body)
    length = (len(stuffed) + 2).to_bytes(2, "little")
    head = HEADER + bytes((servo,)) + length + stuffed
    return head + compute_crc(head).to_bytes(2, "little")


def make_instruction(servo: int, code: int, params: bytes = b"") -> bytes:
    """Return an instruction packet."""
    return frame(servo, bytes((code,)) + params)


def make_status(servo: int, error: int, params: bytes = b"") -> bytes:
    """Return a status packet."""
    return frame(servo, bytes((STATUS, error)) + params)


def make_fast_status(blocks: list[tuple[int, int, bytes]]) -> bytes:
    """Return a fast read's packet, from error, ID and data of each servo.

    Each block ends with the CRC of all before it, unstuffed.
    """
    length = 1 + sum(len(data) + 4 for _, _, data in blocks)
    packet = HEADER + bytes((BROADCAST,)) + length.to_bytes(2, "little")
    packet += bytes((STATUS,))
    crc, summed = compute_crc(packet), len(packet)
    for error, servo, data in blocks:
        packet += bytes((error, servo)) + data
        crc = compute_crc(packet[summed:], crc)
        summed = len(packet)
        packet += crc.to_bytes(2, "little")
    return packet


class Packet(NamedTuple):
    """An instruction packet with unstuffed params.

    Attributes:
        is_whole: The CRC is right.
    """

    servo: int
    code: int
    params: bytes
    is_whole: bool


class Parser:
    """Parser of a byte stream; resynchronises after noise.

    Attributes:
        n_skipped: Bytes outside packets.
        n_unstuffed: Packets lost to a bare FF FF FD in the body, an assumption.
    """

    def __init__(self) -> None:
        self.n_skipped = 0
        self.n_unstuffed = 0
        self._bytes = bytearray()

    def forget(self) -> None:
        """Drop a partial packet."""
        self._skip(len(self._bytes))

    def feed(self, data: bytes) -> Iterator[Packet]:
        """Yield completed packets."""
        self._bytes += data
        while (packet := self._take()) is not None:
            if packet.code >= 0:
                yield packet

    def _take(self) -> Packet | None:
        """Return the next packet; code -1: lost; None: incomplete."""
        buffer = self._bytes
        start = buffer.find(HEADER)
        self._skip(start if start >= 0 else max(len(buffer) - len(HEADER) + 1, 0))
        if start < 0 or len(buffer) < 7:
            return None
        size = int.from_bytes(buffer[5:7], "little") + 7
        if not 10 <= size <= LONGEST:
            self._skip(len(HEADER))
            return Packet(0, -1, b"", False)
        if len(buffer) < size:
            return None
        body = bytes(buffer[7 : size - 2])
        if SPELT in body and self._is_bare(body):
            self.n_unstuffed += 1
            self._skip(len(HEADER))
            return Packet(0, -1, b"", False)
        crc = int.from_bytes(buffer[size - 2 : size], "little")
        is_whole = compute_crc(bytes(buffer[: size - 2])) == crc
        servo = buffer[4]
        del buffer[:size]
        body = unstuff(body)
        return Packet(servo, body[0], body[1:], is_whole)

    def _skip(self, count: int) -> None:
        self.n_skipped += count
        del self._bytes[:count]

    @staticmethod
    def _is_bare(body: bytes) -> bool:
        return body.count(SPELT) != body.count(SPELT + b"\xfd")
