"""Torques that carry an arm, by the robot's URDF."""

from __future__ import annotations

import threading

import numpy as np
import pinocchio as pin

from paprle.contracts.types import LimbInfo, RobotInfo, Vec
from paprle.contracts.urdf.models import make_pin_model


class Gravity:
    """Weight of one limb, the other joints at home; any thread may ask for it."""

    def __init__(self, robot: RobotInfo, limb: LimbInfo) -> None:
        whole = make_pin_model(robot.urdf_path)
        home = pin.neutral(whole)
        for name, position in robot.name_positions(robot.home).items():
            home[whole.joints[whole.getJointId(name)].idx_q] = position
        held = [
            i for i in range(1, whole.njoints) if whole.names[i] not in limb.joint_names
        ]
        self._model = pin.buildReducedModel(whole, held, home)
        self._data = self._model.createData()
        joints = [self._model.getJointId(name) for name in limb.joint_names]
        self._ids = np.array([self._model.joints[i].idx_v for i in joints])
        self._lock = threading.Lock()

    def compute(self, q: Vec) -> Vec:
        """Return the torque that carries the limb at rest.

        Args:
            q: The limb's joints without the gripper, shape (n,), [rad].

        Returns:
            Shape (n,), [N·m].
        """
        full = np.empty(self._model.nq)
        full[self._ids] = q
        with self._lock:
            whole = pin.computeGeneralizedGravity(self._model, self._data, full)
            tau: Vec = whole[self._ids]
        return tau
