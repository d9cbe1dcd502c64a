"""LeRobot's calibration file of a new Feetech arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paprle.contracts.searches.servo_search import MountedGripper, MountedServo
from paprle.hardware.feetech.calibration import (
    MotorCalibration,
    make_calibration,
    make_text,
    name_file,
)


def make_file(
    name: str,
    joints: Sequence[MountedServo],
    gripper: MountedGripper | None,
    stored: Sequence[tuple[int, int]],
) -> tuple[str, str]:
    """Return path and text of a leader's calibration.

    ``stored`` has id and homing offset [counts] of each servo.
    """
    homing = dict(stored)
    motors = {one.joint: _make_joint(one, homing) for one in joints}
    if gripper is not None:
        motors[gripper.joint] = make_calibration(
            gripper.id,
            middle=0.5 * (gripper.closed + gripper.open),
            travel=abs(gripper.open - gripper.closed),
            sign=1 if gripper.open > gripper.closed else -1,
            homing_offset=homing[gripper.id],
        )
    return str(name_file(name, is_leader=True)), make_text(motors)


def _make_joint(one: MountedServo, homing: Mapping[int, int]) -> MotorCalibration:
    return make_calibration(
        one.id,
        middle=one.offset,
        travel=None,
        sign=one.sign,
        homing_offset=homing[one.id],
    )
