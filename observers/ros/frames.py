"""Where the links of a robot are, by the names of its URDF."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from paprle.contracts.types import RobotInfo, Vec

_WORLD = "universe"


class Frames:
    """Forward kinematics of all links.

    Attributes:
        moving: Parent and child link of each joint that moves.
        fixed: Parent and child link of each joint that does not.
    """

    def __init__(self, robot: RobotInfo) -> None:
        self._model = pin.buildModelFromUrdf(str(robot.urdf_path))
        self._data = self._model.createData()
        self._robot = robot
        self.moving: list[tuple[str, str]] = []
        self.fixed: list[tuple[str, str]] = []
        for frame in self._model.frames:
            if frame.type != pin.FrameType.BODY or frame.name == _WORLD:
                continue
            joint = self._model.frames[frame.parentFrame]
            parent = self._model.frames[joint.parentFrame]
            if _WORLD in (joint.name, parent.name):
                continue
            is_fixed = joint.type == pin.FrameType.FIXED_JOINT
            (self.fixed if is_fixed else self.moving).append((parent.name, frame.name))

    def update(self, q: Vec) -> None:
        """Move all links to joint positions, shape (n,), [rad] or [m]."""
        full = pin.neutral(self._model)
        for name, position in self._robot.name_positions(q).items():
            joint = self._model.joints[self._model.getJointId(name)]
            if joint.nq == 2:  # a continuous joint is a point on a circle
                full[joint.idx_q : joint.idx_q + 2] = np.cos(position), np.sin(position)
            else:
                full[joint.idx_q] = position
        pin.framesForwardKinematics(self._model, self._data, full)

    def find(self, parent: str, child: str) -> Vec:
        """Return T_parent_child as xyz + quat_xyzw, shape (7,)."""
        poses, ids = self._data.oMf, self._model
        T = poses[ids.getFrameId(parent)].inverse() * poses[ids.getFrameId(child)]
        return np.asarray(pin.SE3ToXYZQUAT(T), dtype=np.float64)
