"""Memory table of the STS3215.

References:
    Feetech's memory table of the ST3215 (docs.rs/crate/st3215, ``build.rs``) and of
    the STS series (wiki.aifitlab.com); from 80 on LeRobot's ``tables.py``; README.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

EEPROM_END = 40  # spec: memory table, first address that loses its value without power
SIZE = 256  # spec: one-byte addresses


class Access(Enum):
    """A client's rights."""

    READ = "read"
    WRITE = "read and write"


@dataclass(frozen=True, slots=True)
class Register:
    """One register.

    Attributes:
        size: 1 or 2 bytes, low one first.
        first: On delivery.
        sign_bit: None: unsigned.
    """

    name: str
    address: int
    size: int
    access: Access
    first: int
    low: int
    high: int
    sign_bit: int | None = None


R, W = Access.READ, Access.WRITE
FACTORY = 80  # spec: LeRobot's tables.py, first address of the factory's own
# spec: bits of Phase
FINE_SPEED, ZERO_IS_FASTEST, WHOLE_ANGLE = 0x04, 0x08, 0x10
# spec: memory table of the ST3215, first values of the 7.4 V servo; return delay and
# WHOLE_ANGLE as LeRobot's motors/feetech finds them, Maximum_Velocity_Limit: 3400
# ticks/s, identified in Rhoban's BAM (params/feetech_sts3215_7_4V/m1.json)
REGISTERS: tuple[Register, ...] = (
    Register("Firmware_Major_Version", 0, 1, R, 3, 0, 255),
    Register("Firmware_Minor_Version", 1, 1, R, 10, 0, 255),
    Register("Model_Number", 3, 2, R, 777, 0, 65535),
    Register("ID", 5, 1, W, 1, 0, 253),
    Register("Baud_Rate", 6, 1, W, 0, 0, 7),
    Register("Return_Delay_Time", 7, 1, W, 250, 0, 254),
    Register("Response_Status_Level", 8, 1, W, 1, 0, 1),
    Register("Min_Position_Limit", 9, 2, W, 0, 0, 4095),
    Register("Max_Position_Limit", 11, 2, W, 4095, 0, 4095),
    Register("Max_Temperature_Limit", 13, 1, W, 70, 0, 100),
    Register("Max_Voltage_Limit", 14, 1, W, 80, 0, 254),
    Register("Min_Voltage_Limit", 15, 1, W, 40, 0, 254),
    Register("Max_Torque_Limit", 16, 2, W, 1000, 0, 1000),
    Register("Phase", 18, 1, W, 12 | WHOLE_ANGLE, 0, 254),
    Register("Unloading_Condition", 19, 1, W, 44, 0, 254),
    Register("LED_Alarm_Condition", 20, 1, W, 47, 0, 254),
    Register("P_Coefficient", 21, 1, W, 32, 0, 254),
    Register("D_Coefficient", 22, 1, W, 32, 0, 254),
    Register("I_Coefficient", 23, 1, W, 0, 0, 254),
    Register("Minimum_Startup_Force", 24, 2, W, 16, 0, 1000),
    Register("CW_Dead_Zone", 26, 1, W, 1, 0, 32),
    Register("CCW_Dead_Zone", 27, 1, W, 1, 0, 32),
    Register("Protection_Current", 28, 2, W, 500, 0, 511),
    Register("Angular_Resolution", 30, 1, W, 1, 1, 100),
    Register("Homing_Offset", 31, 2, W, 0, -2047, 2047, 11),
    Register("Operating_Mode", 33, 1, W, 0, 0, 3),
    Register("Protective_Torque", 34, 1, W, 20, 0, 254),
    Register("Protection_Time", 35, 1, W, 200, 0, 254),
    Register("Overload_Torque", 36, 1, W, 80, 0, 254),
    Register("Velocity_P_Coefficient", 37, 1, W, 10, 0, 254),
    Register("Over_Current_Protection_Time", 38, 1, W, 200, 0, 254),
    Register("Velocity_I_Coefficient", 39, 1, W, 10, 0, 254),
    Register("Torque_Enable", 40, 1, W, 0, 0, 128),
    Register("Acceleration", 41, 1, W, 0, 0, 254),
    Register("Goal_Position", 42, 2, W, 0, -32766, 32766, 15),
    Register("Goal_Time", 44, 2, W, 0, -1000, 1000, 10),
    Register("Goal_Velocity", 46, 2, W, 0, -32766, 32766, 15),
    Register("Torque_Limit", 48, 2, W, 1000, 0, 1000),
    Register("Lock", 55, 1, W, 1, 0, 1),
    Register("Present_Position", 56, 2, R, 0, -32766, 32766, 15),
    Register("Present_Velocity", 58, 2, R, 0, -32766, 32766, 15),
    Register("Present_Load", 60, 2, R, 0, -1000, 1000, 10),
    Register("Present_Voltage", 62, 1, R, 0, 0, 255),
    Register("Present_Temperature", 63, 1, R, 0, 0, 255),
    Register("Registered", 64, 1, R, 0, 0, 1),
    Register("Status", 65, 1, R, 0, 0, 255),
    Register("Moving", 66, 1, R, 0, 0, 1),
    Register("Present_Current", 69, 2, R, 0, 0, 511),
    Register("Goal_Position_2", 71, 2, R, 0, -32766, 32766, 15),
    Register("Moving_Velocity_Threshold", 80, 1, W, 50, 0, 255),
    Register("DTs", 81, 1, W, 10, 0, 255),
    Register("Velocity_Unit_Factor", 82, 1, W, 1, 0, 255),
    Register("Hts", 83, 1, W, 0, 0, 255),
    Register("Maximum_Velocity_Limit", 84, 1, W, 68, 0, 255),
    Register("Maximum_Acceleration", 85, 1, W, 0, 0, 255),
    Register("Acceleration_Multiplier", 86, 1, W, 1, 0, 255),
)
BY_NAME = {register.name: register for register in REGISTERS}


def encode_sign(value: int, sign_bit: int) -> int:
    """Return magnitude with sign bit."""
    return value if value >= 0 else -value | 1 << sign_bit


def encode(register: Register, value: int) -> bytes:
    """Return a register's bytes, low one first."""
    if register.sign_bit is not None:
        value = encode_sign(value, register.sign_bit)
    return value.to_bytes(register.size, "little")


def decode(register: Register, data: bytes) -> int:
    """Return a register's value."""
    value = int.from_bytes(data, "little")
    if register.sign_bit is None or not value >> register.sign_bit & 1:
        return value
    return -(value & ((1 << register.sign_bit) - 1))
