"""Link poses by URDF name."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from paprle.contracts.types import RobotInfo, Vec
from paprle.contracts.urdf.link_poses import LinkPoses

_WORLD = "universe"


class Frames(LinkPoses):
    """All links; joints as ``moving`` and ``fixed`` (parent, child)."""

    def __init__(self, robot: RobotInfo) -> None:
        super().__init__(robot)
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

    @property
    def root(self) -> str:
        """Root link, the frame of ``place``."""
        bodies = (f.name for f in self._model.frames if f.type == pin.FrameType.BODY)
        return str(next(name for name in bodies if name != _WORLD))

    def find(self, parent: str, child: str) -> Vec:
        """Return T_parent_child as xyz + quat_xyzw, (7,)."""
        T = self.place(parent).inverse() * self.place(child)
        return np.asarray(pin.SE3ToXYZQUAT(T), dtype=np.float64)
