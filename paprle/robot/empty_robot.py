"""A robot without joints, for leaders without a robot."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paprle.contracts.types import RobotInfo, Vec

_NOTHING: Vec = np.zeros(0)
NOBODY = RobotInfo(
    name="",
    urdf_path=Path(__file__).with_name("empty_robot.urdf"),
    joint_names=(),
    q_min=_NOTHING,
    q_max=_NOTHING,
    dq_max=_NOTHING,
    ddq_max=_NOTHING,
    home=_NOTHING,
    limbs=(),
)
"""Robot of a captured leader, and of one whose robot is on another host."""
