"""Arm of a leader."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import LeaderArm, Vec, readonly
from paprle.contracts.urdf.models import make_pin_model
from paprle.robot import Limb

_G = 9.81  # spec: standard gravity [m/s²]
_UNKNOWN_EFFORT = 0.5  # [N·m] chosen: the stall torque of the weakest servo, XL330-M288


class Posture(NamedTuple):
    """Arm at one instant.

    Attributes:
        R: From the eef's axes to the operator's, shape (3, 3).
        p: Eef in the leader's base, in the operator's axes, shape (3,), [m].
        J: Body Jacobian of the driving eef, shape (6, n_arm).
        J_handle: That of the held eef; differs with ``retarget.through``.
        gravity: Holding torques, shape (m,), [N·m].
    """

    R: Vec
    p: Vec
    J: Vec
    J_handle: Vec
    gravity: Vec


class HapticArm:
    """Arm of a leader; not thread-safe; arrays of shape (m,).

    Attributes:
        effort: Smaller torque limit of motors and URDF, [N·m].
        reset_q: Rest posture, shape (n_arm,), [rad].
        damping: Viscous friction of the URDF or NaN, [N·m·s/rad].
        friction: Dry friction of the URDF or 0, [N·m].
    """

    def __init__(self, own: Limb, arm: LeaderArm, driving: Limb | None = None) -> None:
        """Load the arm; ``driving`` is ``own`` or has another eef.

        Raises:
            ConfigError: If its URDF lacks a joint.
        """
        self.n_arm = len(arm.joint_names)
        grip = () if arm.gripper is None else (arm.gripper.joint,)
        self.joint_names = (*arm.joint_names, *grip)
        self._own, self._R_base = own, arm.R_base
        self._driving = own if driving is None else driving
        self.reset_q = arm.reset_q
        self._model, self._data, self._columns = _load(arm, self.joint_names)
        low, high = self._model.lowerPositionLimit, self._model.upperPositionLimit
        at = [self._model.joints[i].idx_q for i in self._columns]
        is_free = [self._model.joints[i].nq == 2 for i in self._columns]
        self.q_min = readonly(np.where(is_free, -np.inf, low[at]))
        self.q_max = readonly(np.where(is_free, np.inf, high[at]))
        self._idx_v = np.array([self._model.joints[i].idx_v for i in self._columns])
        effort = self._model.upperEffortLimit[self._idx_v]
        is_known = np.isfinite(effort) & (effort > 0.0) & (effort < 1e3)
        known = np.inf if arm.tau_max is not None else _UNKNOWN_EFFORT
        effort = np.where(is_known, effort, known)
        least = effort if arm.tau_max is None else np.minimum(effort, arm.tau_max)
        self.effort = readonly(least)
        damping = self._model.damping[self._idx_v]
        self.damping = readonly(np.where(damping > 0.0, damping, np.nan))
        friction = self._model.friction[self._idx_v]
        self.friction = readonly(np.maximum(np.nan_to_num(friction), 0.0))
        self._is_plain = not any(is_free)
        self._q: Vec = pin.neutral(self._model)
        self._at = np.array(at)

    def place(self, q: Vec) -> Posture:
        """Return the posture at q, shape (m,)."""
        T, J = _place(self._driving, q[: self.n_arm])
        is_own = self._driving is self._own
        J_handle = J if is_own else _place(self._own, q[: self.n_arm])[1]
        weight = pin.computeGeneralizedGravity(self._model, self._data, self._spread(q))
        return Posture(
            self._R_base @ T.rotation,
            self._R_base @ T.translation,
            J,
            J_handle,
            weight[self._idx_v],
        )

    def gravity_gradient(self, q: Vec) -> Vec:
        """Return the derivative of ``gravity`` by q, shape (m, m)."""
        G = pin.computeGeneralizedGravityDerivatives(
            self._model, self._data, self._spread(q)
        )
        gradient: Vec = G[np.ix_(self._idx_v, self._idx_v)].copy()
        return gradient

    def _spread(self, q: Vec) -> Vec:
        if self._is_plain:
            self._q[self._at] = q
            return self._q
        for value, joint in zip(q, self._columns, strict=True):
            at = self._model.joints[joint].idx_q
            if self._model.joints[joint].nq == 2:
                self._q[at : at + 2] = math.cos(value), math.sin(value)
            else:
                self._q[at] = value
        return self._q


def _place(limb: Limb, q: Vec) -> tuple[pin.SE3, Vec]:
    model, data, frame = limb.model, limb.data, limb.frame_id
    pin.computeJointJacobians(model, data, q)
    T = pin.updateFramePlacement(model, data, frame)
    J: Vec = pin.getFrameJacobian(model, data, frame, pin.LOCAL)
    return T, J.reshape(6, -1)


def _load(
    arm: LeaderArm, joint_names: tuple[str, ...]
) -> tuple[pin.Model, pin.Data, list[int]]:
    whole = make_pin_model(arm.urdf_path)
    missing = [name for name in joint_names if not whole.existJointName(name)]
    if missing:
        raise ConfigError(
            f"{arm.urdf_path.name}: expected the joints {', '.join(joint_names)}, got "
            f"none named {', '.join(missing)}; correct the leader's YAML"
        )
    held = [
        index
        for index in range(1, whole.njoints)
        if whole.names[index] not in joint_names
    ]
    model = pin.buildReducedModel(whole, held, pin.neutral(whole))
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    base = model.getFrameId(arm.base_link)
    # the operator's axes are z up; the URDF's root may be turned against its base
    R_root_operator = data.oMf[base].rotation @ arm.R_base.T
    model.gravity.linear = R_root_operator @ np.array([0.0, 0.0, -_G])
    return model, model.createData(), [model.getJointId(name) for name in joint_names]
