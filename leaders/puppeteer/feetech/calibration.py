"""Calibration at Feetech servos and in LeRobot's file."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.calibration.arm import (
    JointModel,
    find_ranges,
    make_models,
)
from paprle.contracts.kit.calibration.dialogue import calibrate_arm
from paprle.contracts.urdf.limits import read_limits
from paprle.contracts.urdf.turn_words import describe_turns
from paprle.hardware.feetech.calibration import (
    MotorCalibration,
    make_motors,
    name_file,
    write_calibration,
)
from paprle.leaders.puppeteer.arm import Arm
from paprle.leaders.puppeteer.feetech.bus import FeetechBus

_OPENS = "it opens"


def calibrate_feetech(
    arms: Sequence[Arm], buses: Mapping[str, FeetechBus], joints: Sequence[str]
) -> Generator[str, str, dict[str, Any]]:
    """Calibrate opened, limp arms, each as a whole.

    Yields:
        Questions; expects the answer.

    Returns:
        The ``leader``'s keys: the file of each arm.

    Raises:
        ConfigError: For single joints.
        BusError: If a servo does not keep its calibration.
    """
    if joints:
        raise ConfigError(
            "--joint: expected none, as arms of Feetech servos are calibrated as a "
            f"whole, got {', '.join(joints)}"
        )
    limbs: dict[str, Any] = {}
    for arm in arms:
        motors = yield from _calibrate(arm, buses[arm.settings.port])
        path = name_file(f"paprle_{arm.name}", is_leader=True)
        write_calibration(path, dict(zip(arm.joint_names, motors, strict=True)))
        limbs[arm.name] = {"calibration": str(path)}
    return {"leader": {"limbs": limbs}}


def _calibrate(
    arm: Arm, bus: FeetechBus
) -> Generator[str, str, list[MotorCalibration]]:
    models = _make_models(arm)
    hand = arm.joint_names[: arm.n_arm]
    words = describe_turns(
        Path(arm.settings.urdf), hand, arm.settings.eef_link, {}
    ) | dict.fromkeys(arm.joint_names[arm.n_arm :], _OPENS)
    fits = yield from calibrate_arm(models, words, lambda: bus.read_angles(arm))
    ids = [servo.id for servo in arm.servos]
    now = bus.thread.stored[arm.place]
    motors = make_motors(ids, find_ranges(models, fits), now)
    stored = list(bus.thread.stored)
    stored[arm.place] = [motor.stored for motor in motors]
    bus.thread.store(stored)
    return motors


def _make_models(arm: Arm) -> list[JointModel]:
    limits = read_limits(Path(arm.settings.urdf))
    gripper = arm.settings.gripper
    rows = [limits[name] for name in arm.joint_names[: arm.n_arm]]
    if gripper is not None:
        rows.append((gripper.closed, gripper.open))
    return make_models(arm.joint_names, *zip(*rows, strict=True))
