"""Bodies by a MuJoCo model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
from numpy.typing import NDArray

from paprle_emulators.servo_rig.arm import FAR

Vec = NDArray[np.float64]

_ENDLESS = np.array([-FAR, FAR])
_HEAVY = 1e6  # chosen: inertia of joints that stand still [kg·m²]
_SINGLE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
# The emulator has its own servos and stops.
_OFF = int(mujoco.mjtDisableBit.mjDSBL_ACTUATION | mujoco.mjtDisableBit.mjDSBL_LIMIT)


class MujocoLinks:
    """Bodies of one arm and their contacts; other joints stand still.

    A URDF's bodies touch nothing: it lacks excluded pairs and a scene. Friction,
    damping and armature are the emulated servos'.

    Attributes:
        lower: Shape (n,), [rad] or [m].
        upper: Likewise.
        damping: Zeros, shape (n,).
        friction: Likewise.
    """

    def __init__(self, model: Path, joints: Sequence[str]) -> None:
        """Read joints of an MJCF or URDF file.

        Raises:
            ValueError: If MuJoCo refuses it, or it lacks a joint.
        """
        self._model = found = mujoco.MjModel.from_xml_path(str(model))
        self._data = mujoco.MjData(found)
        ids = [_find_joint(found, model, name) for name in joints]
        self._ids = np.array(ids)
        stops = np.where(found.jnt_limited[ids, None], found.jnt_range[ids], _ENDLESS)
        self.lower, self.upper = stops.T
        self.damping = self.friction = np.zeros(len(ids))
        self._q, self._dq = found.jnt_qposadr[ids], found.jnt_dofadr[ids]
        found.opt.disableflags |= _OFF
        if ElementTree.parse(model).getroot().tag == "robot":
            found.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        found.dof_damping[self._dq] = 0.0
        found.dof_frictionloss[self._dq] = 0.0
        found.dof_armature[:] = _HEAVY
        self._still = mujoco.MjData(found)

    def accelerate(self, q: Vec, dq: Vec, tau: Vec, added: Vec) -> Vec:
        """Return the accelerations, with contacts; see ``arm.Links``."""
        data, own = self._data, self._dq
        self._model.dof_armature[own] = added
        data.qpos[self._q], data.qvel[own], data.qfrc_applied[own] = q, dq, tau
        mujoco.mj_forward(self._model, data)
        a: Vec = data.qacc[own].copy()
        return a

    def compute_gravity(self, q: Vec) -> Vec:
        """Return the gravity torque, (n,), [N·m]."""
        model, data = self._model, self._still
        data.qpos[self._q] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_rne(model, data, 0, tau := np.zeros(model.nv))
        found: Vec = tau[self._dq]
        return found

    def measure_reach(self, q: Vec, hand: int) -> Vec:
        """Return joint distances; see ``arm.Links``."""
        data = self._still
        data.qpos[self._q] = q
        mujoco.mj_kinematics(self._model, data)
        p = data.xanchor[self._ids]
        reach: Vec = np.linalg.norm(p - p[hand], axis=1)
        return reach


def _find_joint(found: mujoco.MjModel, file: Path, name: str) -> int:
    index = mujoco.mj_name2id(found, mujoco.mjtObj.mjOBJ_JOINT, name)
    if index < 0 or found.jnt_type[index] not in _SINGLE:
        names = [found.joint(i).name for i in range(found.njnt)]
        raise ValueError(
            f"plant '{file}': expected a hinge or slide '{name}', got joints "
            f"{', '.join(names) or 'none'}"
        )
    return int(index)
