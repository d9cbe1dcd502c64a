"""What is measured of a simulation: in steps, as the encoders of a robot count.

Steps are powers of two, so that a number measured ends in zeros: a recording then holds
no more digits than a robot would give.
"""

from __future__ import annotations

import math

import mujoco
import numpy as np

from hardware.mujoco.mechanism import Vec
from hardware.mujoco.model import Indices
from paprle.contracts.types import readonly

_PER_VELOCITY = 2**8  # [1/s] chosen: 1 mrad/s, as PiPER and many drives tell it
_PER_EFFORT = 2**10  # [N·m/rad] chosen: 4 mN·m, finer than a drive knows its current


class Encoders:
    """Reads joints and poses in steps."""

    def __init__(self, resolution: float) -> None:
        """Choose the steps.

        Args:
            resolution: Largest step of a position, [rad] or [m]; 0: as simulated.
        """
        exponent = math.floor(math.log2(resolution)) if resolution else 0
        self._step = 2.0**exponent if resolution else 0.0

    def read_joints(
        self, data: mujoco.MjData, qpos: Indices, dof: Indices
    ) -> tuple[Vec, Vec, Vec]:
        """Return q, dq and tau of joints, each of shape (n,)."""
        return (
            readonly(_round(data.qpos[qpos], self._step)),
            readonly(_round(data.qvel[dof], _PER_VELOCITY * self._step)),
            readonly(_round(data.qfrc_actuator[dof], _PER_EFFORT * self._step)),
        )

    def read_poses(self, poses: Vec) -> Vec:
        """Return poses, xyz + quat_xyzw, shape (o, 7): what lies still is told so."""
        if not self._step:
            return readonly(poses)
        rounded = _round(poses, self._step)
        rounded[:, 3:] /= np.linalg.norm(rounded[:, 3:], axis=1, keepdims=True)
        return readonly(rounded)


def _round(values: Vec, step: float) -> Vec:
    return np.round(values / step) * step if step else values
