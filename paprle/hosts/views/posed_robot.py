"""Poses of a robot and joints for poses nearby, for display alone."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from paprle.contracts.types import LimbInfo, Vec
from paprle.contracts.urdf.link_poses import LinkPoses

_N_STEPS = 8  # chosen: a motion of half a second converges in three or four
_DAMPING = 0.02  # chosen: as much as turns a stretched arm aside by less than is seen
_MET = 1e-4  # [m] and [rad] chosen: less is not seen


class PosedRobot(LinkPoses):
    """A robot's model, in its joints' order."""

    def find_poses(self, q: Vec) -> dict[str, pin.SE3]:
        """Return T_base_eef by limb at q, shape (n,)."""
        self.update(q)
        return {
            limb.name: self.place(limb.base_link).actInv(self.place(limb.eef_link))
            for limb in self._robot.limbs
        }

    def move_to(self, q: Vec, limb: LimbInfo, T_base_eef: pin.SE3) -> Vec:
        """Return joints near q, (n,), that bring a limb close to a pose.

        Damped least squares within the joint limits; other limbs stay.
        """
        names = self._robot.joint_names
        rows = [names.index(name) for name in limb.joint_names]
        joints = [self._model.joints[self._model.getJointId(names[i])] for i in rows]
        columns = [joint.idx_v for joint in joints]
        frame, moved = self._model.getFrameId(limb.eef_link), np.array(q)
        for _ in range(_N_STEPS):
            full = self.update(moved)
            here = self.place(limb.eef_link)
            there = self.place(limb.base_link) * T_base_eef
            turn = pin.log3(there.rotation @ here.rotation.T)
            error = np.concatenate([there.translation - here.translation, turn])
            if np.abs(error).max() < _MET:
                break
            J = pin.computeFrameJacobian(
                self._model, self._data, full, frame, pin.LOCAL_WORLD_ALIGNED
            )[:, columns]
            A = J @ J.T + _DAMPING**2 * np.eye(6)
            moved[rows] += J.T @ np.linalg.solve(A, error)
            moved = np.clip(moved, self._robot.q_min, self._robot.q_max)
        return moved
