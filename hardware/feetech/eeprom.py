"""Lasting settings of a servo, behind its lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from paprle.hardware.feetech.errors import ServoError
from paprle.hardware.feetech.models import COUNTS, REGISTERS, make_span, split
from paprle.hardware.feetech.wire import Wire

SPAN = make_span("Firmware_Major_Version", "Over_Current_Protection_Time")
"""All settings that a servo keeps."""

SETTLE = 0.02
"""Silence after a write, [s]. chosen: a servo is busy for some ms with its EEPROM."""

_MOST_OFFSET = 2047  # spec: memory table, Homing Offset: 11 bits and the sign


@dataclass(frozen=True, slots=True)
class Stored:
    """Calibration at the servo, [counts].

    Attributes:
        homing_offset: Present = encoder's position − this.
        range_min: Lowest goal.
        range_max: Highest; both 0: no limit.
    """

    homing_offset: int
    range_min: int
    range_max: int

    @property
    def is_limited(self) -> bool:
        """Whether the servo limits its goals."""
        return self.range_max > self.range_min


def find_stored(values: Mapping[str, int]) -> Stored:
    """Return the calibration in registers."""
    return Stored(
        values["Homing_Offset"],
        values["Min_Position_Limit"],
        values["Max_Position_Limit"],
    )


def read_settings(wire: Wire, servo_id: int) -> dict[str, int]:
    """Return a servo's settings by register name.

    Raises:
        BusTimeout: No valid answer.
        BusError: Lost port.
    """
    return split(wire.read_block(servo_id, SPAN), SPAN)


def read_stored(wire: Wire, servo_id: int) -> Stored:
    """Return the calibration at a servo; raise as ``read_settings``."""
    return find_stored(read_settings(wire, servo_id))


def write_stored(wire: Wire, servo_id: int, stored: Stored) -> None:
    """Write and verify a limp servo's calibration.

    Raises:
        ServoError: Out of range, torque on, or not kept.
        BusTimeout: No answer.
        BusError: Lost port.
    """
    where = f"servo {servo_id} on '{wire.path}'"
    is_range = 0 <= stored.range_min <= stored.range_max < COUNTS
    if abs(stored.homing_offset) > _MOST_OFFSET or not is_range:
        raise ServoError(
            f"{where}: expected a homing offset within ±{_MOST_OFFSET} and a range "
            f"within 0 to {COUNTS - 1}, got {stored}; calibrate it again"
        )
    wanted = {
        "Homing_Offset": stored.homing_offset,
        "Min_Position_Limit": stored.range_min,
        "Max_Position_Limit": stored.range_max,
    }
    write_settings(wire, servo_id, wanted)


def write_settings(wire: Wire, servo_id: int, wanted: Mapping[str, int]) -> list[str]:
    """Return differing settings after writing them, limp.

    Raises:
        ServoError: Torque on, or not kept.
        BusTimeout: No answer.
        BusError: Lost port.
    """
    now = read_settings(wire, servo_id)
    different = {name: value for name, value in wanted.items() if now[name] != value}
    if not different:
        return []
    if wire.read(servo_id, REGISTERS["Torque_Enable"]):
        raise ServoError(
            f"servo {servo_id} on '{wire.path}': expected torque off, got on: it would "
            "jump with its new settings; support the arm, and switch torque off first"
        )
    with wire.slowly(), unlocked(wire, servo_id):
        for name, value in different.items():
            wire.write_name(servo_id, name, value)
            wire.wait(SETTLE)
    now = read_settings(wire, servo_id)
    lost = [name for name, value in different.items() if now[name] != value]
    if lost:
        raise ServoError(
            f"servo {servo_id} on '{wire.path}': expected it to keep {lost[0]} "
            f"{different[lost[0]]}, got {now[lost[0]]}; take its power away, try again"
        )
    return list(different)


@contextmanager
def unlocked(wire: Wire, servo_id: int) -> Iterator[None]:
    """Unlock the EEPROM meanwhile; raise as ``write_checked``."""
    lock = REGISTERS["Lock"]
    wire.write_checked(servo_id, lock, 0)
    try:
        yield
    finally:
        wire.write_checked(servo_id, lock, 1)
