"""Packets by the vendor's SDK 1.0, with its faults mended.

The SDK takes any reply for the requested register, ends a sync read at a silent servo,
drops the error bytes of sync reads, and swaps numbers' bytes after ``SCS_SETEND``.
"""

from __future__ import annotations

from collections.abc import Sequence

from scservo_sdk.protocol_packet_handler import protocol_packet_handler
from scservo_sdk.scservo_def import (
    BROADCAST_ID,
    COMM_RX_CORRUPT,
    COMM_SUCCESS,
    INST_PING,
    INST_READ,
    MAX_ID,
)

from paprle.hardware.feetech.port import SerialPort

_ID, _LENGTH, _ERROR, _PARAMETER = 2, 3, 4, 5  # spec: FT-SCS protocol, status packet
_REST = 2  # spec: FT-SCS protocol: the length counts the error byte and the checksum
_HEAD = 4  # spec: FT-SCS protocol: header, ID and length are not counted
_AROUND = 6  # spec: FT-SCS protocol: bytes of a status packet beside its parameters
_MODEL = (3, 2)  # spec: memory table, address and size of Model Number

_Answer = tuple[list[int], int, int]


class Packets(protocol_packet_handler):  # type: ignore[misc] # the SDK has no types
    """Packet handler.

    Attributes:
        n_echoes: Requests returned by the adapter.
        errors: Newest error byte by id.
    """

    def __init__(self) -> None:
        super().__init__()
        self.n_damaged = self.n_echoes = 0
        self._sent: list[int] = []
        self.errors: dict[int, int] = {}

    def txPacket(self, port: SerialPort, txpacket: list[int]) -> int:
        """Send a packet and return the SDK's result."""
        self._sent = txpacket
        return int(super().txPacket(port, txpacket))

    def rxPacket(self, port: SerialPort) -> tuple[list[int], int]:
        """Return the next packet and the SDK's result."""
        try:
            packet, result = super().rxPacket(port)
        except IndexError:  # a damaged length
            port.is_using = False
            packet, result = [], COMM_RX_CORRUPT
        if result == COMM_SUCCESS:
            self.errors[packet[_ID]] = packet[_ERROR]
        elif result == COMM_RX_CORRUPT and len(packet) >= _AROUND:
            self.n_damaged += len(packet) == packet[_LENGTH] + _HEAD
        return packet, result

    def txRxPacket(self, port: SerialPort, txpacket: list[int]) -> _Answer:
        """Send a request and return its answer, result and error byte."""
        result = self.txPacket(port, txpacket)
        if result != COMM_SUCCESS:
            port.is_using = False
            return [], result, 0
        if txpacket[_ID] == BROADCAST_ID:
            port.is_using = False
            return [], result, 0
        is_read = txpacket[4] == INST_READ
        size = txpacket[6] if is_read else 0
        port.setPacketTimeout(_AROUND + size)
        return self._receive(port, txpacket[_ID], size)

    def readRx(self, port: SerialPort, scs_id: int, length: int) -> _Answer:
        """Return parameters, result and error byte of a status packet."""
        packet, result, error = self._receive(port, scs_id, length)
        return list(packet[_PARAMETER : _PARAMETER + length]), result, error

    def _receive(self, port: SerialPort, scs_id: int, size: int) -> _Answer:
        # an echo of a ping is an answer with error 1 as well, and is not skipped
        while True:
            packet, result = self.rxPacket(port)
            if result != COMM_SUCCESS:
                return [], result, 0
            is_echo = packet == self._sent and packet[_ERROR] != INST_PING
            self.n_echoes += is_echo
            if packet[_ID] == scs_id and not is_echo:
                break
        if packet[_LENGTH] != size + _REST:
            return [], COMM_RX_CORRUPT, 0
        return packet, result, packet[_ERROR]

    def ping(self, port: SerialPort, scs_id: int) -> tuple[int, int, int]:
        """Return model number, result and error byte."""
        request = [0, 0, scs_id, 2, INST_PING, 0]
        _, result, error = self.txRxPacket(port, request)
        if result != COMM_SUCCESS:
            return 0, result, error
        data, result, error = self.readTxRx(port, scs_id, *_MODEL)
        return int.from_bytes(bytes(data), "little"), result, error

    def ping_all(self, port: SerialPort, patience: float) -> tuple[set[int], bool]:
        """Return answering ids and whether packets were damaged.

        ``patience`` is an answer's longest wait, [s].
        """
        found: set[int] = set()
        is_damaged = False
        result = self.txPacket(port, [0, 0, BROADCAST_ID, 2, INST_PING, 0])
        for _ in range(2 * MAX_ID if result == COMM_SUCCESS else 0):
            port.setPacketTimeoutMillis(1e3 * patience)
            packet, result = self.rxPacket(port)
            if result == COMM_SUCCESS:
                is_damaged = is_damaged or packet[_LENGTH] != _REST
                found.add(packet[_ID])
            elif result == COMM_RX_CORRUPT:
                is_damaged = True
            else:
                break
        port.is_using = False
        return found, is_damaged

    def sync_read(
        self, port: SerialPort, address: int, size: int, ids: Sequence[int]
    ) -> tuple[dict[int, bytes], int]:
        """Return answering servos' blocks, and the last result."""
        rows: dict[int, bytes] = {}
        result = self.syncReadTx(port, address, size, list(ids), len(ids))
        while result == COMM_SUCCESS and len(rows) < len(ids):
            packet, result = self.rxPacket(port)
            if result != COMM_SUCCESS:
                break
            if packet[_LENGTH] == size + _REST and packet[_ID] in ids:
                rows[packet[_ID]] = bytes(packet[_PARAMETER : _PARAMETER + size])
        port.is_using = False
        return rows, result
