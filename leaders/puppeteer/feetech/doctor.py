"""Examination of a Feetech bus, without writing."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from paprle.contracts.urdf.limits import read_limits
from paprle.hardware.dynamixel.bus_thread import BusSettings
from paprle.hardware.dynamixel.probe import stand
from paprle.hardware.feetech.calibration_check import Joint
from paprle.hardware.feetech.errors import BusError
from paprle.hardware.feetech.examination import (
    ArmModel,
    describe_unseen,
    examine_calibration,
    examine_servos,
)
from paprle.hardware.feetech.models import ServoSpec
from paprle.hardware.feetech.wire import Wire
from paprle.leaders.puppeteer.arm import Arm
from paprle.leaders.puppeteer.feetech.bus import FeetechBus
from paprle.leaders.puppeteer.pose_check import Finding, examine_pose

_WATCH = 0.5  # [s] chosen: an arm in a hand moves in it
_STILL = 0.02  # [rad] chosen: an arm that moves more is in a hand


def examine_feetech(settings: BusSettings, arms: Sequence[Arm]) -> Iterator[Finding]:
    """Yield the findings on one port."""
    models = [_make_model(arm) for arm in arms]
    wire = Wire(settings.path, settings.baud, settings.timeout)
    try:
        wire.open()
        joints = [joint for model in models for joint in model.joints]
        tables = yield from examine_servos(wire, joints, is_driven=False)
        is_usable = len(tables) == len(joints)
        for model in models if is_usable else ():
            is_usable &= yield from examine_calibration(model, tables)
    except BusError as err:
        for problem in err.problems:
            yield False, problem
        return
    finally:
        wire.close()
    if is_usable:
        yield from _examine_poses(FeetechBus(settings, arms, time.monotonic_ns), arms)
        for model in models:
            yield True, describe_unseen(model)


def _examine_poses(bus: FeetechBus, arms: Sequence[Arm]) -> Iterator[Finding]:
    try:
        bus.thread.open()
    except BusError:
        return  # its problems are found already
    try:
        snapshot = bus.latest()
        if bus.read_calibration() or snapshot is None:
            return
        found = stand(bus, _WATCH)
        last = bus.latest() or snapshot
        for arm in arms:
            is_still = bool(found.sway[arm.place].max() <= _STILL)
            yield from examine_pose(arm, last.reading, is_still)
    except BusError as err:
        yield False, str(err)
    finally:
        bus.thread.close(off=False)


def _make_model(arm: Arm) -> ArmModel:
    whole = -math.inf, math.inf
    try:
        ends = dict(read_limits(Path(arm.settings.urdf)))
    except ValueError:
        ends = {}  # the comparison with its rest pose names the fault
    gripper = arm.settings.gripper
    if gripper is not None:
        ends[gripper.joint] = gripper.closed, gripper.open
    last = "" if gripper is None else gripper.joint
    return ArmModel(
        joints=tuple(
            Joint(
                name=name,
                spec=ServoSpec(id=servo.id, model=servo.model),
                travel=abs(ends.get(name, whole)[1] - ends.get(name, whole)[0]),
                is_gripper=name == last,
            )
            for name, servo in zip(arm.joint_names, arm.servos, strict=True)
        ),
        where=f"limb '{arm.name}'",
        calibration=arm.settings.calibration,
        is_driven=False,
        setting=f"leader.limbs.{arm.name}.calibration",
        command="paprle calibrate leader=…",
    )
