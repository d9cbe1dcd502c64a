"""Requests with bounded retries."""

from __future__ import annotations

from dynamixel_sdk.robotis_def import (
    COMM_RX_CORRUPT,
    COMM_RX_TIMEOUT,
    COMM_SUCCESS,
)

from paprle.hardware.dynamixel.line.packets import Packets
from paprle.hardware.dynamixel.line.port import SerialPort
from paprle.hardware.serial_bus.wire import RegisterWire

TIMEOUT = 0.01
"""Most time for a reply, [s]. chosen: an adapter takes 1 ms, a busy host some."""

_BAD_CHECKSUM = 3  # spec: Protocol 2.0, error byte: what it heard was damaged
_ALERT = 0x80  # spec: Protocol 2.0, bit of the error byte: see Hardware Error Status
_REFUSALS = {
    1: "it could not carry it out",
    2: "it does not know the instruction",
    4: "the value is out of range",
    5: "the length is wrong",
    6: "the value is beyond its limit",
    7: "the register is read-only or locked while torque is on",
}  # spec: Protocol 2.0, error byte


class Wire(RegisterWire):
    """Open port and packets, for one thread."""

    CORRUPT, SILENCE = COMM_RX_CORRUPT, COMM_RX_TIMEOUT
    RATES = "57600, 1000000, 2000000, 3000000, 4000000"

    packets: Packets

    def __init__(self, path: str, baud: int, timeout: float = TIMEOUT) -> None:
        self.packets = Packets()
        super().__init__(path, baud, timeout)

    def _make_port(self) -> SerialPort:
        return SerialPort(self.path, self.timeout)

    def scan(self) -> dict[int, int]:
        """Return all model numbers by id; takes 0.8 s."""
        found, _ = self._guard("broadcastPing")
        return {int(i): int(values[0]) for i, values in found.items()}

    def _judge_write(self, result: int, error: int) -> tuple[int, str]:
        if result == COMM_SUCCESS and error & ~_ALERT == _BAD_CHECKSUM:
            return COMM_RX_CORRUPT, ""
        return result, _REFUSALS.get(error & ~_ALERT, "")
