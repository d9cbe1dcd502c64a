"""Examination of a control box, without motion."""

from __future__ import annotations

from collections.abc import Iterator

from paprle.contracts.types import LimbInfo, RobotInfo
from paprle.followers.xarm.naming import find_other_model, find_tighter
from paprle.hardware.vendor_arm.states import ArmError, describe
from paprle.hardware.xarm.arm import XArm

Finding = tuple[bool, str]
"""Whether something is well, and a sentence about it."""


def diagnose(arm: XArm, limb: LimbInfo, robot: RobotInfo) -> Iterator[Finding]:
    """Yield findings; leave the arm closed."""
    where = f"{limb.name}, {arm.name}"
    try:
        found = arm.greet()
        firmware = ".".join(map(str, found.firmware))
        yield (
            True,
            f"{where}: {found.axis} joints, type {found.kind}, firmware {firmware}, "
            f"serial number {found.serial}",
        )
        for text in list_differences(arm, limb, robot):
            yield False, f"{where}: {text}"
        condition, details = arm.examine()
        told = describe(condition, arm.remedies)
        heat = max(details.temperatures)
        yield not told, f"{where}: {told or f'well, {heat} [°C] at most'}"
        if details.warning:
            yield False, f"{where}: expected no warning, got W{details.warning}"
    except ImportError as err:
        yield (
            False,
            f"{where}: expected {err.name}, got none; pip install 'paprle[xarm]'",
        )
    except ArmError as err:
        yield False, str(err)
    finally:
        arm.close(is_powerless=False)


def list_differences(arm: XArm, limb: LimbInfo, robot: RobotInfo) -> list[str]:
    """Return a greeted arm's differences from its limb."""
    other = find_other_model(robot.name, arm.identity)
    if other:
        return [other]
    ids = [robot.joint_names.index(joint) for joint in limb.joint_names]
    names = limb.joint_names
    words = find_tighter(names, robot.q_min[ids], robot.q_max[ids], arm.find_limits())
    if not words:
        return []
    return [
        "expected joint limits no tighter than the robot's, got tighter ones on the "
        f"arm; add {words}"
    ]
