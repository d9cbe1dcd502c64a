"""Two arms as segments with a radius.

Without primitives they are lines between joints, as in the paper.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from paprle.contracts.types import LimbInfo, RobotInfo, Vec
from paprle.contracts.urdf.models import complete_limits, make_pin_model

_N_POSTURES = 500  # chosen: the reach of seven joints to a hundredth
_SEED = 1


class Arms:
    """A robot with its bodies, at the last placement."""

    def __init__(self, robot: RobotInfo) -> None:
        self.model = make_pin_model(robot.urdf_path)
        self.data = self.model.createData()
        self._robot = robot
        self.bodies = pin.buildGeomFromUrdfString(
            self.model, complete_limits(robot.urdf_path), pin.GeometryType.COLLISION
        )
        self.placed = pin.GeometryData(self.bodies)
        self._q_index = {
            name: self.model.joints[self.model.getJointId(name)].idx_q
            for name in robot.name_positions(robot.home)
        }

    def list_columns(self, names: tuple[str, ...]) -> list[int]:
        """Return the Jacobian columns of joints."""
        joints = self.model.joints
        return [joints[self.model.getJointId(name)].idx_v for name in names]

    def has_link(self, name: str) -> bool:
        """Return whether a link exists."""
        return bool(self.model.existFrame(name, pin.FrameType.BODY))

    def find_frame(self, name: str) -> int:
        """Return the frame of a link."""
        return int(self.model.getFrameId(name, pin.FrameType.BODY))

    def place(self, q: Vec) -> None:
        """Place the robot at q, (n,), [rad]."""
        full = pin.neutral(self.model)
        for name, value in self._robot.name_positions(q).items():
            full[self._q_index[name]] = value
        pin.computeJointJacobians(self.model, self.data, full)
        pin.updateFramePlacements(self.model, self.data)
        pin.updateGeometryPlacements(self.model, self.data, self.bodies, self.placed)

    def find_reach(self, limb: LimbInfo, frame: int) -> tuple[Vec, float]:
        """Return the first joint at home, and a frame's reach from it."""
        rng = np.random.default_rng(_SEED)
        columns = [self._robot.joint_names.index(name) for name in limb.joint_names]
        low = np.maximum(self._robot.q_min[columns], -np.pi)
        high = np.minimum(self._robot.q_max[columns], np.pi)
        q, far = self._robot.home.copy(), []
        first = self.model.getJointId(limb.joint_names[0])
        for _ in range(_N_POSTURES):
            q[columns] = rng.uniform(low, high)
            self.place(q)
            away = self.data.oMf[frame].translation - self.data.oMi[first].translation
            far.append(float(np.linalg.norm(away)))
        return self.data.oMi[first].translation.copy(), max(far)


class Links:
    """Bodies of a limb's links; ``joints`` move them."""

    def __init__(self, arms: Arms, limb: LimbInfo, *, has_last: bool) -> None:
        self._arms = arms
        ids = [arms.model.getJointId(name) for name in limb.joint_names]
        moved = ids if has_last else ids[:-1]
        self._shapes = [
            (place, body.parentJoint, line)
            for place, body in enumerate(arms.bodies.geometryObjects)
            if body.parentJoint in moved and (line := _find_line(body.geometry))
        ]
        self.joints = [joint for _, joint, _ in self._shapes]
        self._chain = [] if self._shapes else list(zip(ids[:-1], ids[1:], strict=True))
        self.joints += [joint for joint, _ in self._chain]

    def find(self) -> Vec:
        """Return begin, end and radius of each, (n, 7), [m]."""
        rows = np.empty((len(self._shapes) + len(self._chain), 7))
        placed, joints = self._arms.placed.oMg, self._arms.data.oMi
        for row, (place, _, (axis, radius)) in zip(rows, self._shapes, strict=False):
            middle, half = placed[place].translation, placed[place].rotation @ axis
            row[:3], row[3:6], row[6] = middle - half, middle + half, radius
        for row, (a, b) in zip(rows[len(self._shapes) :], self._chain, strict=True):
            row[:3], row[3:6], row[6] = (
                joints[a].translation,
                joints[b].translation,
                0.0,
            )
        return rows


def _find_line(shape: Any) -> tuple[Vec, float] | None:
    kind = type(shape).__name__
    if kind in {"Cylinder", "Capsule"}:
        return np.array([0.0, 0.0, shape.halfLength]), float(shape.radius)
    if kind == "Sphere":
        return np.zeros(3), float(shape.radius)
    if kind != "Box":
        return None
    sides = np.array(shape.halfSide)
    k = int(sides.argmax())
    axis = np.zeros(3)
    axis[k] = sides[k]
    return axis, float(np.linalg.norm(np.delete(sides, k)))
