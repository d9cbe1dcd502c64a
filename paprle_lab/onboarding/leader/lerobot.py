"""LeRobot's calibration of servos: middle of the ranges at zero.

Its counts are those reported, as servos store its offsets and drive modes.

References:
    ``lerobot.motors.MotorCalibration`` and ``MotorsBus._normalize`` (0.4.4 and 0.6).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paprle.contracts.errors import ConfigError
from paprle_lab.onboarding.leader.imported import Imported

_KEYS = ("id", "drive_mode", "homing_offset", "range_min", "range_max")
_TURN, _ZERO = 4096, 2048  # spec: counts a turn, and that of angle 0


def is_lerobot(tree: object) -> bool:
    """Return whether a JSON value is such a calibration."""
    return (
        isinstance(tree, dict)
        and bool(tree)
        and all(isinstance(one, dict) and "range_min" in one for one in tree.values())
    )


def convert_lerobot(path: Path, tree: Mapping[str, Any], n_joints: int) -> Imported:
    """Return the values of a file's motors, the gripper last.

    Raises:
        ConfigError: If it is no calibration, or of another number of motors.
    """
    problems = [
        f"{path}: {name}: expected whole numbers {', '.join(_KEYS)}, got {one}"
        for name, one in tree.items()
        if any(type(one.get(key)) is not int for key in _KEYS)
    ]
    if len(tree) not in {n_joints, n_joints + 1}:
        problems.append(
            f"{path}: expected {n_joints} joints and perhaps a gripper, got "
            f"{len(tree)} motors: {', '.join(tree)}"
        )
    if problems:
        raise ConfigError(problems)
    motors = sorted(tree.values(), key=lambda one: int(one["id"]))
    joints = motors[:n_joints]
    signs = tuple(-1 if one["drive_mode"] else 1 for one in joints)
    middles = [0.5 * (one["range_min"] + one["range_max"]) for one in joints]
    return Imported(
        ids=tuple(one["id"] for one in joints),
        signs=signs,
        offsets=tuple(
            sign * _to_angle(middle)
            for sign, middle in zip(signs, middles, strict=True)
        ),
        gripper=_convert_gripper(motors[n_joints]) if motors[n_joints:] else None,
    )


def _convert_gripper(motor: Mapping[str, int]) -> tuple[int, float, float]:
    sign = -1 if motor["drive_mode"] else 1
    closed, opened = motor["range_min"], motor["range_max"]
    return motor["id"], sign * _to_angle(closed), sign * _to_angle(opened)


def _to_angle(count: float) -> float:
    return (count - _ZERO) * 2.0 * math.pi / _TURN
