"""Servo models and registers of Feetech's STS series.

Source: Feetech's memory table (doc.feetech.cn, FT-SMS-STS-emanual;
docs.rs/crate/st3215, ``build.rs``), as in LeRobot's ``motors/feetech/tables.py`` and
pollen-robotics/rustypot, ``servo/feetech``. Numbers are little-endian, with a sign bit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from paprle.hardware.feetech.errors import BusError
from paprle.hardware.serial_bus.register import Register

COUNTS = 4096
"""Counts of a turn. spec: STS3215, 12 bit encoder."""

ZERO_COUNT = COUNTS // 2
"""Count at angle 0. spec: Torque Enable 128 makes a position 2048."""

UNIT = 2.0 * math.pi / COUNTS
"""[rad] a count; also the unit of speed, [rad/s]. spec: memory table, 0.0146 rpm."""

CURRENT_UNIT = 6.5e-3  # [A] spec: memory table, Present Current
VOLTAGE_UNIT = 0.1  # [V] spec: memory table, Present Voltage
LOAD_UNIT = 1e-3  # spec: memory table, Present Load: 0.1 % of the full duty
DELAY_UNIT = 2e-6  # [s] spec: memory table, Return Delay Time
POSITION_MODE = 0  # spec: memory table, Operating Mode
MODES = ("position", "speed", "PWM", "steps")  # spec: memory table, Operating Mode
WHOLE_TURNS = 0x10  # spec: memory table, Phase bit 4: feedback over several turns
MIRRORED = 0x03  # spec: memory table, Phase bits 0 and 1: direction and bridge

ERROR_BITS: Mapping[int, str] = {
    0x01: "input voltage out of range",
    0x02: "encoder error",
    0x04: "overheated",
    0x08: "current too high",
    0x20: "overloaded",
}
"""Bits of Status and of the error byte. spec: memory table, Servo Status."""

BAUD_CODES: Mapping[int, int] = {
    1_000_000: 0,
    500_000: 1,
    250_000: 2,
    128_000: 3,
    115_200: 4,
}
"""Value of Baud Rate by rate in [bit/s]. spec: memory table; of the slower ones Feetech
and LeRobot have different lists, so that they are searched and not set."""

BAUD_RATES = (*BAUD_CODES, 57_600, 38_400, 19_200)
"""Rates to search for a lost servo, [bit/s]; the SDK does not know 76800."""

_SIGNED: Mapping[str, int] = {
    "Homing_Offset": 11,
    "Goal_Position": 15,
    "Goal_Velocity": 15,
    "Present_Position": 15,
    "Present_Velocity": 15,
    "Present_Load": 10,
    "Present_Current": 15,
}  # spec: LeRobot's tables.py; current: Feetech's SMS_STS::ReadCurrent

REGISTERS: Mapping[str, Register] = {
    name: Register(address, size)
    for name, address, size in (
        ("Firmware_Major_Version", 0, 1),
        ("Firmware_Minor_Version", 1, 1),
        ("Model_Number", 3, 2),
        ("ID", 5, 1),
        ("Baud_Rate", 6, 1),
        ("Return_Delay_Time", 7, 1),
        ("Response_Status_Level", 8, 1),
        ("Min_Position_Limit", 9, 2),
        ("Max_Position_Limit", 11, 2),
        ("Max_Temperature_Limit", 13, 1),
        ("Max_Voltage_Limit", 14, 1),
        ("Min_Voltage_Limit", 15, 1),
        ("Max_Torque_Limit", 16, 2),
        ("Phase", 18, 1),
        ("Unloading_Condition", 19, 1),
        ("LED_Alarm_Condition", 20, 1),
        ("P_Coefficient", 21, 1),
        ("D_Coefficient", 22, 1),
        ("I_Coefficient", 23, 1),
        ("Minimum_Startup_Force", 24, 2),
        ("CW_Dead_Zone", 26, 1),
        ("CCW_Dead_Zone", 27, 1),
        ("Protection_Current", 28, 2),
        ("Angular_Resolution", 30, 1),
        ("Homing_Offset", 31, 2),
        ("Operating_Mode", 33, 1),
        ("Protective_Torque", 34, 1),
        ("Protection_Time", 35, 1),
        ("Overload_Torque", 36, 1),
        ("Over_Current_Protection_Time", 38, 1),
        ("Torque_Enable", 40, 1),
        ("Acceleration", 41, 1),
        ("Goal_Position", 42, 2),
        ("Goal_Time", 44, 2),
        ("Goal_Velocity", 46, 2),
        ("Torque_Limit", 48, 2),
        ("Lock", 55, 1),
        ("Present_Position", 56, 2),
        ("Present_Velocity", 58, 2),
        ("Present_Load", 60, 2),
        ("Present_Voltage", 62, 1),
        ("Present_Temperature", 63, 1),
        ("Status", 65, 1),
        ("Moving", 66, 1),
        ("Present_Current", 69, 2),
    )
}
"""Registers that this driver uses, by LeRobot's names."""

_NUMBERS: Mapping[str, int] = {"sts3215": 777, "sts3250": 2825}
# spec: LeRobot, tables.py, MODEL_NUMBER_TABLE


@dataclass(frozen=True, slots=True)
class ServoSpec:
    """A servo expected on the bus.

    Attributes:
        id: 0 … 253.
        torque_limit: Share, written before torque; None: as in EEPROM.
    """

    id: int
    model: str = "sts3215"
    torque_limit: float | None = None


def model_names() -> tuple[str, ...]:
    """Return all names."""
    return tuple(_NUMBERS)


def find_number(name: str) -> int:
    """Return a known model's number.

    Raises:
        BusError: Unknown model.
    """
    if name not in _NUMBERS:
        known = ", ".join(_NUMBERS)
        raise BusError(f"servo model: expected one of {known}, got '{name}'")
    return _NUMBERS[name]


def find_name(number: int) -> str:
    """Return a model's name by its number."""
    names = {known: name for name, known in _NUMBERS.items()}
    return names.get(number, f"model number {number}")


def make_span(first: str, last: str) -> Register:
    """Return the block between two registers."""
    begin, end = REGISTERS[first], REGISTERS[last]
    return Register(begin.address, end.address + end.size - begin.address)


def split(block: bytes, span: Register) -> dict[str, int]:
    """Return a block's numbers by register."""
    return {
        name: decode(name, block[at : at + register.size])
        for name, register in REGISTERS.items()
        if 0 <= (at := register.address - span.address) <= span.size - register.size
    }


def decode(name: str, data: bytes) -> int:
    """Return a register's number from bytes."""
    return with_sign(name, int.from_bytes(data, "little"))


def with_sign(name: str, value: int) -> int:
    """Return a register's number from unsigned content."""
    bit = _SIGNED.get(name)
    if bit is None or not value >> bit & 1:
        return value
    return -(value & ((1 << bit) - 1))


def encode(name: str, value: int) -> int:
    """Return a register's unsigned content."""
    bit = _SIGNED.get(name)
    return value if bit is None or value >= 0 else -value | 1 << bit


def count_angle(count: float) -> float:
    """Return a count's angle, [rad]."""
    return (count - ZERO_COUNT) * UNIT


def describe_errors(bits: int) -> str:
    """Return the meaning of Status bits."""
    known = [text for bit, text in ERROR_BITS.items() if bits & bit]
    return ", ".join(known) or f"error bits {bits:#04x}"
