"""Calibration at the servos and in LeRobot's files."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.kit.calibration.arm import JointModel, find_ranges, make_models
from paprle.contracts.kit.calibration.dialogue import calibrate_arm
from paprle.contracts.types import RobotInfo, Vec
from paprle.contracts.urdf.limits import read_limits
from paprle.contracts.urdf.turn_words import describe_turns
from paprle.followers.feetech.arm import FeetechArm
from paprle.hardware.feetech.calibration import (
    MotorCalibration,
    make_motors,
    name_file,
    write_calibration,
)


def calibrate_arms(
    arms: Sequence[FeetechArm], robot: RobotInfo, names: Mapping[str, str]
) -> Generator[str, str, dict[str, Any]]:
    """Calibrate connected arms in turn; each loses its torque first.

    Stops are the URDF's; ``names`` are LeRobot's files or their names by limb.

    Yields:
        Questions; expects the answer.

    Returns:
        ``env`` keys that servos cannot keep, and ``files``.

    Raises:
        BusError: If a servo keeps its torque, or not its calibration.
    """
    found: dict[str, Any] = {"files": []}
    for arm in arms:
        motors = yield from _calibrate(arm, robot)
        path = find_target(names[arm.name], arm.name)
        joints = [name.removeprefix(f"{arm.name}_") for name in arm.names]
        write_calibration(path, dict(zip(joints, motors, strict=True)))
        found["files"].append(str(path))
        if any(motor.drive_mode for motor in motors):  # which no servo keeps
            env = found.setdefault("env", {})
            if len(arms) == 1:
                env["calibration"] = str(path)
            else:
                env.setdefault("calibrations", {})[arm.name] = str(path)
    return found


def find_target(name: str, limb: str) -> Path:
    """Return a limb's file to write."""
    if name.endswith(".json"):
        return Path(name).expanduser()
    return name_file(name or f"paprle_{limb}", is_leader=False)


def _calibrate(
    arm: FeetechArm, robot: RobotInfo
) -> Generator[str, str, list[MotorCalibration]]:
    yield (
        f"{arm.name}: its torque goes off now and stays off: the arm falls. Hold it, "
        "or lay it down, and take care of fingers"
    )
    arm.bus.release()
    models, words = _make_models(arm, robot), _describe_turns(arm, robot)

    def read() -> Vec:
        snapshot = arm.bus.snapshot
        if snapshot is None or not snapshot.is_open:
            return np.full(len(models), math.nan)
        return snapshot.reading.angle

    fits = yield from calibrate_arm(models, words, read)
    ids = [spec.id for spec in arm.specs]
    motors = make_motors(ids, find_ranges(models, fits), arm.bus.stored)
    arm.bus.store([motor.stored for motor in motors])
    return motors


def _make_models(arm: FeetechArm, robot: RobotInfo) -> list[JointModel]:
    ends = dict(read_limits(robot.urdf_path))
    gripper = arm.limb.gripper
    if gripper is not None:
        closed, opened = gripper.closed, gripper.open
        ends[gripper.joint] = min(closed, opened), max(closed, opened)
    rows = [ends[name] for name in arm.names]
    return make_models(arm.names, *zip(*rows, strict=True))


def _describe_turns(arm: FeetechArm, robot: RobotInfo) -> dict[str, str]:
    limb, gripper = arm.limb, arm.limb.gripper
    words = describe_turns(robot.urdf_path, limb.joint_names, limb.eef_link, {})
    if gripper is not None:
        is_opening = gripper.open > gripper.closed
        words[gripper.joint] = "it opens" if is_opening else "it closes"
    return words
