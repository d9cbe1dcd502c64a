"""Torques that carry an arm, by its URDF."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.contracts.urdf.models import make_pin_model

_G = 9.81  # spec: standard gravity [m/s²]


class Gravity:
    """Weight of some joints, the others held; for any thread."""

    def __init__(
        self, urdf: Path, joint_names: Sequence[str], held: Mapping[str, float]
    ) -> None:
        """Load the masses of an upright robot; others are at ``held``, [rad], or 0."""
        whole = make_pin_model(urdf)
        posture = pin.neutral(whole)
        for name, position in held.items():
            posture[whole.joints[whole.getJointId(name)].idx_q] = position
        others = [
            i for i in range(1, whole.njoints) if whole.names[i] not in joint_names
        ]
        self._model = pin.buildReducedModel(whole, others, posture)
        self._data = self._model.createData()
        joints = [self._model.getJointId(name) for name in joint_names]
        self._ids = np.array([self._model.joints[i].idx_v for i in joints])
        self._lock = threading.Lock()

    def tilt(self, base_link: str, R_base: Vec) -> None:
        """Mount a frame by its rotation to upright axes, (3, 3)."""
        pin.framesForwardKinematics(self._model, self._data, pin.neutral(self._model))
        frame = self._data.oMf[self._model.getFrameId(base_link)]
        down = np.array([0.0, 0.0, -_G])
        self._model.gravity.linear = frame.rotation @ R_base.T @ down

    def compute(self, q: Vec) -> Vec:
        """Return the torque, (n,), [N·m], that carries the joints, (n,), [rad]."""
        full = np.empty(self._model.nq)
        full[self._ids] = q
        with self._lock:
            whole = pin.computeGeneralizedGravity(self._model, self._data, full)
            tau: Vec = whole[self._ids]
        return tau
