"""Forward kinematics from a ``RobotInfo``."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from paprle.contracts.types import RobotInfo, Vec
from paprle.contracts.urdf.models import make_pin_model


class LinkPoses:
    """Poses of all links by URDF name."""

    def __init__(self, robot: RobotInfo) -> None:
        """Read the robot's URDF; raise ValueError if it is invalid."""
        self._model = make_pin_model(robot.urdf_path)
        self._data = self._model.createData()
        self._robot = robot

    def update(self, q: Vec) -> Vec:
        """Move all links to ``q``, (n,); return pinocchio's vector."""
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
        """Return T_world_link at the last positions."""
        return self._data.oMf[self._model.getFrameId(link)].copy()
