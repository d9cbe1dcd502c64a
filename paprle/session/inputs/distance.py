"""Describes the distance of leaders from the robot before they drive it."""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import Vec
from paprle.robot import RobotModel
from paprle.session.postures import Wanted

_REACH = 0.005  # [m] chosen: a start that is off by more is not what was asked for


class Apart:
    """Compares where the robot is with where it has to be; grippers meet slowly."""

    def __init__(self, robot: RobotModel) -> None:
        self._robot = robot
        self._grippers = [
            robot.joint_names.index(limb.gripper.joint)
            for limb in robot.limbs.values()
            if limb.gripper is not None
        ]

    def find_far_joint(self, goal: Vec, q_cmd: Vec, bound: float) -> str:
        """Describe the joint farthest from its goal, if that is beyond a bound.

        Args:
            goal: Where the robot has to be, shape (n,), [rad].
            q_cmd: Its command, shape (n,), [rad].
            bound: How far it may be, [rad].

        Returns:
            The joint in words; empty when all are within the bound.
        """
        apart = np.abs(goal - q_cmd)
        apart[self._grippers] = 0.0
        worst = int(apart.argmax())
        if not apart[worst] > bound:
            return ""
        name = self._robot.joint_names[worst]
        return f"joint '{name}' is {apart[worst]:.2f} [rad] from the leader"

    def find_unreachable(self, wanted: Wanted, goal: Vec) -> str:
        """Describe the first limb whose first pose no search reached.

        Args:
            wanted: The start that the leaders require.
            goal: The nearest posture found, shape (n,), [rad].

        Returns:
            The limb in words; empty when none is missed.
        """
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
