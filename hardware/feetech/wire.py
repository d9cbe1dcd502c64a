"""Requests with bounded retries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from scservo_sdk.scservo_def import COMM_RX_CORRUPT, COMM_RX_TIMEOUT, COMM_SUCCESS

from paprle.hardware.feetech.errors import BusError
from paprle.hardware.feetech.models import REGISTERS, encode
from paprle.hardware.feetech.packets import Packets
from paprle.hardware.feetech.port import SerialPort
from paprle.hardware.serial_bus.register import Register
from paprle.hardware.serial_bus.wire import RegisterWire

TIMEOUT = 0.02
"""Most time for a reply, [s]. chosen: an adapter takes 1 ms, a busy host some."""

_KEEPING = 0.1  # [s] chosen: several times what a servo's EEPROM takes
_CHUNK = 4096  # [bytes] chosen: more than a bus sends in the time of a look

SCAN = 0.8
"""Wait of a scan for the next answer, [s]. spec: LeRobot's broadcast ping waits as
long."""


class Wire(RegisterWire):
    """Open port and packets, for one thread."""

    CORRUPT, SILENCE = COMM_RX_CORRUPT, COMM_RX_TIMEOUT
    RATES = "115200, 500000, 1000000"

    packets: Packets
    port: SerialPort

    def __init__(self, path: str, baud: int, timeout: float = TIMEOUT) -> None:
        self.packets = Packets()
        super().__init__(path, baud, timeout)

    def _make_port(self) -> SerialPort:
        return SerialPort(self.path, self.timeout)

    def scan(self, patience: float = SCAN) -> dict[int, int]:
        """Return all model numbers by id.

        Raises:
            BusError: Colliding answers, or lost port.
        """
        ids, is_damaged = self._guard("ping_all", patience)
        found = {i: self.ping(i) for i in sorted(ids)}
        missing = [i for i, number in found.items() if number is None]
        if missing or (is_damaged and not ids):
            raise BusError(
                f"port '{self.path}': expected servos with ids of their own, got "
                f"answers that collide at {self.baud} [bit/s]; connect one servo alone "
                "and set its id with paprle setup-servos"
            )
        return {i: number for i, number in found.items() if number is not None}

    @contextmanager
    def slowly(self) -> Iterator[None]:
        """Allow slow answers: keeping a value takes 22 ms."""
        before = self.port.timeout
        self.port.timeout = max(before, _KEEPING)
        try:
            yield
        finally:
            self.port.timeout = before

    def sync_read(self, span: Register, ids: Sequence[int]) -> dict[int, bytes]:
        """Return answering servos' blocks by id.

        Raises:
            BusError: Lost port.
        """
        rows: dict[int, bytes]
        rows, result = self._guard("sync_read", span.address, span.size, ids)
        if result != COMM_SUCCESS:
            self.count(result)
        return rows

    def sync_write(self, name: str, values: Mapping[int, int]) -> None:
        """Write a register of servos, signed by id, unanswered.

        Raises:
            BusError: Lost port.
        """
        at = REGISTERS[name]
        rows = [
            byte
            for i, value in values.items()
            for byte in (i, *encode(name, value).to_bytes(at.size, "little"))
        ]
        self._guard("syncWriteTxOnly", at.address, at.size, rows, len(rows))

    def write_name(self, servo_id: int, name: str, value: int) -> None:
        """Write and verify a signed number; raise as ``write_checked``."""
        self.write_checked(servo_id, REGISTERS[name], encode(name, value))

    def listen(self, duration: float) -> int:
        """Return the number of unrequested bytes within ``duration``, [s].

        Raises:
            BusError: Lost port.
        """
        self.wait(duration)
        return len(self.receive(_CHUNK))
