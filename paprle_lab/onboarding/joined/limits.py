"""Limits of a robot of several arms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from paprle.contracts.settings.limits import LimitSettings
from paprle.contracts.types import RobotInfo

BY_JOINT = ("q_min", "q_max", "dq_max", "ddq_max_joints")
_TIGHTENED = {
    "dq_max": "dq_max",
    "ddq_max": "ddq_max_joints",
    "dddq_max": "dddq_max_joints",
}
"""Setting by joint of each limit, in the order in which one follows from another."""


def join_limits(
    own: Sequence[LimitSettings],
    by_joint: Mapping[str, dict[str, float]],
    wanted: Mapping[str, Mapping[str, float]],
    read: Callable[[LimitSettings], RobotInfo],
) -> LimitSettings:
    """Return limits under which each joint keeps those of its own arm.

    Common limits are the loosest of the arms'; joints that would exceed their own are
    named. ``by_joint``: settings of the keys ``BY_JOINT``; ``read`` makes the robot's
    properties of limits.
    """
    slides = [one.ddq_max_sliding for one in own]
    jerks = {one.dddq_max for one in own}
    limits = LimitSettings(
        velocity_scale=max(one.velocity_scale for one in own),
        ddq_max=max(one.ddq_max for one in own),
        ddq_max_sliding=None
        if not any(slides)
        else max(one.ddq_max_sliding or one.ddq_max for one in own),
        dddq_max=jerks.pop() if len(jerks) == 1 else None,
        gripper_time=min(one.gripper_time for one in own),
        **by_joint,
    )
    for field, key in _TIGHTENED.items():
        robot = read(limits)
        found = zip(robot.joint_names, getattr(robot, field).tolist(), strict=True)
        others = {
            joint: wanted[field][joint]
            for joint, value in found
            if value != wanted[field][joint]
        }
        changed: dict[str, Any] = {key: {**getattr(limits, key), **others}}
        limits = replace(limits, **changed)
    return limits
