"""Packets of an inertial sensor on a serial line, little-endian.

``attitude`` is ARBot's (cake-lab/AR-CV, final.py), ``inertial`` PAPRLE's own; both are
in leaders/hand_imu/README.md.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Literal

PacketKind = Literal["attitude", "inertial"]
KINDS: tuple[PacketKind, PacketKind] = ("attitude", "inertial")

_HEADERS = {"attitude": 0xAA, "inertial": 0xAB}
_POLYNOMIAL, _START = 0x1021, 0xFFFF  # spec: CRC-16/CCITT-FALSE


def encode(kind: PacketKind, t_us: int, values: Sequence[float]) -> bytes:
    """Return a packet of a time [µs]."""
    counter = t_us & 0xFFFFFFFF
    body = struct.pack(f"<BI{len(values)}f", _HEADERS[kind], counter, *values)
    if kind == "attitude":
        return body + bytes([_fold(body)])
    return body + struct.pack("<H", compute_crc(body))


def compute_crc(data: bytes) -> int:
    """Return the CRC-16, most significant bit first."""
    crc = _START
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ _POLYNOMIAL if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def _fold(data: bytes) -> int:
    check = 0
    for byte in data:
        check ^= byte
    return check
