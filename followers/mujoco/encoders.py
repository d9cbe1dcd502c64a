"""Quantised measurements, by powers of two for short recordings."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from paprle.hardware.mujoco.mechanism import Vec
from paprle.hardware.mujoco.model import Indices

_PER_VELOCITY = 2**8  # [1/s] chosen: 1 mrad/s, as PiPER and many drives tell it
_PER_EFFORT = 2**10  # [N·m/rad] chosen: 4 mN·m, finer than a drive knows its current
_PER = np.array([[1.0], [_PER_VELOCITY], [_PER_EFFORT]])  # of q, dq, tau


class Encoders:
    """Quantises joints and poses."""

    def __init__(self, resolution: float) -> None:
        """Choose steps up to a resolution; 0: none."""
        exponent = math.floor(math.log2(resolution)) if resolution else 0
        self._step = 2.0**exponent if resolution else 0.0
        self._steps = self._step * _PER
        self._rounded, self._poses = b"", np.zeros((0, 7))

    def read_joints(
        self, data: mujoco.MjData, qpos: Indices, dof: Indices
    ) -> tuple[Vec, Vec, Vec]:
        """Return q, dq and tau, each (n,)."""
        # one array for all three: they are read in every period of the gate
        told = np.empty((3, len(qpos)))
        told[0] = data.qpos[qpos]
        told[1] = data.qvel[dof]
        told[2] = data.qfrc_actuator[dof]
        if self._step:
            _round(told, self._steps)
        told.setflags(write=False)
        q, dq, tau = told
        return q, dq, tau

    def read_poses(self, poses: Vec) -> Vec:
        """Return quantised poses, (o, 7)."""
        told = poses.copy()
        if self._step:
            _round(told, self._step)
            rounded = told.tobytes()
            if rounded == self._rounded:
                return self._poses
            quats = told[:, 3:]
            quats /= np.sqrt(np.add.reduce(np.square(quats), axis=1, keepdims=True))
            self._rounded, self._poses = rounded, told
        told.setflags(write=False)
        return told


def _round(values: Vec, step: Vec | float) -> None:
    values /= step
    np.rint(values, out=values)
    values *= step
