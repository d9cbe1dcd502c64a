"""Packets of Protocol 2.0 by the vendor's SDK 4.1, with three faults fixed.

The SDK omits byte stuffing in requests, ignores it in fast reads, and takes any reply
for the requested register.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from dynamixel_sdk import Protocol2PacketHandler
from dynamixel_sdk.robotis_def import COMM_RX_CORRUPT, COMM_SUCCESS

_LENGTH = 5  # spec: Protocol 2.0: FF FF FD 00 ID, then the length, low byte first
_HEAD = 7  # spec: Protocol 2.0: what stands before, and is not counted
_ERROR = 8  # spec: Protocol 2.0: 55 at 7, the error byte, parameters
_STATUS_REST = 4  # spec: Protocol 2.0: the length counts 55, error and CRC as well
_FAST_REST = 4  # spec: Protocol 2.0: each servo brings error, ID and CRC
_POLYNOMIAL = 0x8005  # spec: Protocol 2.0, CRC-16 (IBM)
_SPELT = b"\xff\xff\xfd"  # spec: Protocol 2.0, what a body must not spell


def _make_remainders() -> tuple[int, ...]:
    remainders = [0]
    for bit in range(16):
        crc = remainders[1 << bit >> 1] << 1 if bit else _POLYNOMIAL
        crc = (crc ^ (crc >> 16) * _POLYNOMIAL) & 0xFFFF
        remainders += [crc ^ rest for rest in remainders]
    return tuple(remainders)


_REMAINDERS = _make_remainders()


class Packets(Protocol2PacketHandler):  # type: ignore[misc] # the SDK has no types
    """SDK handler that counts wrong checksums."""

    def __init__(self) -> None:
        super().__init__()
        self.n_damaged = 0

    def rxPacket(self, port: object, fast_option: bool) -> tuple[list[int], int]:
        """Return the next packet and the SDK's result."""
        packet, result = super().rxPacket(port, fast_option)
        if result == COMM_RX_CORRUPT and len(packet) > _LENGTH + 1:
            self.n_damaged += len(packet) == _length(packet) + _HEAD
        return packet, result

    def addStuffing(self, packet: list[int]) -> list[int]:
        """Stuff in place, for the SDK's callers."""
        if _SPELT in bytes(packet[_LENGTH:]):
            packet[:] = super().addStuffing(list(packet))
        return packet

    def updateCRC(self, crc: int, data: Sequence[int], size: int) -> int:
        """Update a CRC-16, two bytes at a time."""
        n_pairs = size // 2
        for pair in struct.unpack(f">{n_pairs}H", bytes(data[: 2 * n_pairs])):
            crc = _REMAINDERS[crc ^ pair]
        if size % 2:  # the CRC of one byte is that of a zero and the byte
            crc = (crc << 8 & 0xFFFF) ^ _REMAINDERS[crc >> 8 ^ data[size - 1]]
        return crc

    def readRx(
        self, port: object, dxl_id: int, length: int
    ) -> tuple[list[int], int, int]:
        """Return parameters, result and error byte of a status packet.

        Another length is a late answer.
        """
        while True:
            packet, result = self.rxPacket(port, False)
            if result != COMM_SUCCESS:
                return [], result, 0
            if packet[4] == dxl_id:
                break
        if _length(packet) != length + _STATUS_REST:
            return [], COMM_RX_CORRUPT, packet[_ERROR]
        begin = _ERROR + 1
        return list(packet[begin : begin + length]), result, packet[_ERROR]

    def fastSyncReadRx(
        self, port: object, dxl_id: int, length: int
    ) -> tuple[list[int], int, int]:
        """Return the common status packet without stuffing."""
        packet, result = self.rxPacket(port, True)
        if result != COMM_SUCCESS:
            return [], result, 0
        expected = length + 1  # spec: the last servo's CRC is that of the packet
        if _length(packet) != expected:
            packet = self.removeStuffing(packet)
        if packet[4] != dxl_id or _length(packet) != expected:
            return [], COMM_RX_CORRUPT, 0
        return list(packet[_ERROR : _ERROR + length]), result, packet[_ERROR]


def _length(packet: list[int]) -> int:
    return packet[_LENGTH] | packet[_LENGTH + 1] << 8
