"""Distance of leaders from the robot before engaging, as text."""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import Vec
from paprle.robot import RobotModel
from paprle.session.postures import PostureGoal

_REACH = 0.005  # [m] chosen: a start that is off by more is not what was asked for


class Apart:
    """Compares robot and start posture, without grippers."""

    def __init__(self, robot: RobotModel) -> None:
        self._robot = robot
        self._grippers = [
            robot.joint_names.index(limb.gripper.joint)
            for limb in robot.limbs.values()
            if limb.gripper is not None
        ]

    def find_far_joint(self, goal: Vec, q_cmd: Vec, bound: float) -> str:
        """Describe the farthest joint beyond a bound, [rad], if any."""
        apart = np.abs(goal - q_cmd)
        apart[self._grippers] = 0.0
        worst = int(apart.argmax())
        if not apart[worst] > bound:
            return ""
        name = self._robot.joint_names[worst]
        return f"joint '{name}' is {apart[worst]:.2f} [rad] from the leader"

    def find_unreachable(self, wanted: PostureGoal, goal: Vec) -> str:
        """Describe the first limb whose pose the goal misses, if any."""
        for name, T in wanted.poses.items():
            limb = self._robot.limbs[name]
            apart = T.translation - limb.fk(limb.take(goal)).translation
            distance = float(np.linalg.norm(apart))
            if distance > _REACH:
                return (
                    f"the pose for '{name}' was not reached from any starting posture "
                    f"that was tried; the nearest is {distance:.3f} [m] off"
                )
        return ""
