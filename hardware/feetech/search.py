"""Search for Feetech servos, without writing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from serial.tools import list_ports

from paprle.hardware.feetech.eeprom import Stored, read_stored
from paprle.hardware.feetech.errors import BusError, BusTimeout
from paprle.hardware.feetech.models import (
    REGISTERS,
    VOLTAGE_UNIT,
    count_angle,
    decode,
    find_name,
)
from paprle.hardware.feetech.wire import TIMEOUT, Wire

ARM_IDS = (1, 2, 3, 4, 5, 6)
"""Ids of an SO-100 or SO-101. spec: LeRobot, so_follower.py and so_leader.py."""

_BAUD = 1_000_000  # [bit/s] spec: memory table, rate on delivery
_TRIES = 2  # chosen: one lost packet of a hundred is made up for
_BY_ID = Path("/dev/serial/by-id")


@dataclass(frozen=True, slots=True)
class FoundBus:
    """A port and its servos.

    Attributes:
        path: With a lasting name if possible.
        voltage: Of the first servo, [V], or 0.
        problem: Reason for no answer, or "".
        stored: Calibrations of a whole arm, by id.
        has_torque: Of a whole arm's servo.
    """

    path: str
    models: dict[int, str]
    voltage: float = 0.0
    problem: str = ""
    stored: Mapping[int, Stored] = field(default_factory=dict)
    has_torque: bool = False

    def has_arm(self, ids: Sequence[int] = ARM_IDS) -> bool:
        """Return whether all ids answer."""
        return set(ids) <= set(self.models)


def list_usb_ports() -> tuple[str, ...]:
    """Return USB's serial ports, by lasting names if possible."""
    lasting = {str(link.resolve()): str(link) for link in sorted(_BY_ID.glob("*"))}
    devices = sorted(p.device for p in list_ports.comports() if p.vid is not None)
    return tuple(lasting.get(str(Path(d).resolve()), d) for d in devices)


def find_buses(
    paths: Iterable[str] | None = None,
    ids: Sequence[int] = ARM_IDS,
    baud: int = _BAUD,
    timeout: float = TIMEOUT,
) -> list[FoundBus]:
    """Return ports with their servos.

    Args:
        paths: None: all on USB.
        ids: To ask.
        baud: [bit/s].
        timeout: [s].
    """
    chosen = list_usb_ports() if paths is None else paths
    return [_look(Wire(path, baud, timeout), ids) for path in chosen]


def _look(wire: Wire, ids: Sequence[int]) -> FoundBus:
    try:
        wire.open()
        numbers = {i: wire.ping(i, _TRIES) for i in ids}
        models = {i: find_name(n) for i, n in numbers.items() if n is not None}
        voltage = _read_voltage(wire, next(iter(models), None))
        whole = ids if set(ids) <= set(models) else ()
        stored = {i: read_stored(wire, i) for i in whole}
        has_torque = any(wire.read(i, REGISTERS["Torque_Enable"]) for i in whole)
    except BusError as err:
        return FoundBus(wire.path, {}, problem=str(err))
    finally:
        wire.close()
    return FoundBus(wire.path, models, voltage, "", stored, has_torque)


Angles = Callable[[], list[float]]
"""Returns angles, [rad]; NaN where a servo is silent. Raises BusError."""


@contextmanager
def reading_angles(
    path: str, ids: Sequence[int] = ARM_IDS, baud: int = _BAUD
) -> Iterator[Angles]:
    """Open a port; yield a source of angles.

    Raises:
        BusError: It does not open.
    """
    wire, at = Wire(path, baud), REGISTERS["Present_Position"]

    def read() -> list[float]:
        rows = wire.sync_read(at, ids)
        return [
            count_angle(decode("Present_Position", rows[i])) if i in rows else math.nan
            for i in ids
        ]

    wire.open()
    try:
        yield read
    finally:
        wire.close()


def _read_voltage(wire: Wire, servo_id: int | None) -> float:
    if servo_id is None:
        return 0.0
    try:
        return VOLTAGE_UNIT * wire.read(servo_id, REGISTERS["Present_Voltage"])
    except BusTimeout:
        return 0.0
