"""Poses of a robot's links, computed from its ``RobotInfo`` alone."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from paprle.contracts.types import RobotInfo, Vec
from paprle.contracts.urdf.models import make_pin_model


class LinkPoses:
    """Forward kinematics of all links, by the names of the URDF."""

    def __init__(self, robot: RobotInfo) -> None:
        """Read the robot's URDF.

        Raises:
            ValueError: If it is none.
        """
        self._model = make_pin_model(robot.urdf_path)
        self._data = self._model.createData()
        self._robot = robot

    def update(self, q: Vec) -> Vec:
        """Move all links to joint positions, shape (n,), [rad] or [m].

        Returns:
            The same as pinocchio's own vector of the model.
        """
        full: Vec = pin.neutral(self._model)
        for name, position in self._robot.name_positions(q).items():
            joint = self._model.joints[self._model.getJointId(name)]
            if joint.nq == 2:  # a continuous joint is a point on a circle
                full[joint.idx_q : joint.idx_q + 2] = np.cos(position), np.sin(position)
            else:
                full[joint.idx_q] = position
        pin.framesForwardKinematics(self._model, self._data, full)
        return full

    def place(self, link: str) -> pin.SE3:
        """Return T_world_link where the robot was moved to last."""
        return self._data.oMf[self._model.getFrameId(link)].copy()
