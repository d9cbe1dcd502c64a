"""Reasons against commanding an arm, for ``stop_reason``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paprle.hardware.piper.readings import Condition, Motor

CAN_MODE, TEACHING = 1, 2  # spec: protocol V2, byte 0 of 0x2A1
MOVE_J = 1  # spec: protocol V2, byte 2 of 0x2A1
STICKY_MODES: Mapping[int, str] = {4: "MIT or JS (0x04)", 6: "MIT (0x06)"}
"""Kinds of motion that older firmware leaves at a reset alone. spec: pyAgxArm, its
reference of firmwares and move_js."""

_MOVES: Mapping[int, str] = {0: "MOVE P", 2: "MOVE L", 3: "MOVE C", 5: "MOVE CPV"}
ENABLED = 1 << 6  # spec: protocol V2, byte 5 of 0x261

_MODES: Mapping[int, str] = {
    0: "standby",
    TEACHING: "teach mode",
    3: "ethernet control",
    4: "wifi control",
    5: "remote control",
    6: "leader-arm mode",
    7: "offline trajectory",
}
_STATUSES: Mapping[int, str] = {
    1: "emergency stop",
    2: "no solution",
    3: "singularity",
    4: "target beyond the arm's limits",
    5: "joint communication lost",
    6: "joint brake not released",
    7: "collision",
    8: "overspeed while taught",
    9: "joint error",
    10: "other error",
    11: "teaching: recording",
    12: "teaching: replaying",
    13: "teaching: paused",
    14: "main controller too hot",
    15: "brake resistor too hot",
}
_MOTOR_FAULTS: Mapping[int, str] = {
    1 << 0: "voltage low",
    1 << 1: "motor too hot",
    1 << 2: "overcurrent",
    1 << 3: "driver too hot",
    1 << 4: "collision",
    1 << 5: "driver error",
    1 << 7: "stalled",
}
_HOT = (1 << 1) | (1 << 3)
_GRIPPER_FAULTS = 0b0101111  # spec: protocol V2, 0x2A8: bit 4 the sensor, 7 homed


def describe_fault(
    condition: Condition, motors: Sequence[Motor], gripper_bits: int
) -> str:
    """Return the arm's fault, or ""."""
    if condition.status:
        text = _STATUSES.get(condition.status, f"status {condition.status:#x}")
        return text + _name_joints(condition.error >> 8, " over its limit")
    if condition.error & 0xFF:
        return "communication lost" + _name_joints(condition.error, "")
    for joint, motor in enumerate(motors, start=1):
        faults = [text for bit, text in _MOTOR_FAULTS.items() if motor.bits & bit]
        if faults:
            figure = f" ({motor.temperature} C)" if motor.bits & _HOT else ""
            voltage = f" ({motor.voltage / 10:g} V)" if motor.bits & 1 else ""
            return f"joint{joint}: {', '.join(faults)}{figure}{voltage}"
    bits = gripper_bits & _GRIPPER_FAULTS
    faults = [text for bit, text in _MOTOR_FAULTS.items() if bits & bit]
    return f"gripper: {', '.join(faults)}" if faults else ""


def describe_idleness(condition: Condition, motors: Sequence[Motor]) -> str:
    """Return why a healthy arm does not obey, or ""."""
    if condition.mode != CAN_MODE:
        return f"arm is in {_MODES.get(condition.mode, f'mode {condition.mode}')}"
    if condition.move_mode != MOVE_J:
        kinds = {**_MOVES, **STICKY_MODES}
        kind = kinds.get(condition.move_mode, f"{condition.move_mode:#x}")
        return f"arm moves by {kind}"
    without = sum(1 << i for i, motor in enumerate(motors) if not motor.bits & ENABLED)
    return "no power" + _name_joints(without, "") if without else ""


def describe_stroke(stroke: int | None) -> str:
    """Return a warning of a gripper without stroke."""
    if stroke != 0:
        return ""
    return (
        "gripper: expected its stroke to be set (70 or 100 [mm]), got none: it reads 0 "
        "for ever and does not move; set it with the vendor's "
        "V2_gripper_param_config.py (0x47D), the arm without power"
    )


def _name_joints(bits: int, tail: str) -> str:
    names = [f"joint{i + 1}" for i in range(6) if bits >> i & 1]
    return f": {', '.join(names)}{tail}" if names else ""
