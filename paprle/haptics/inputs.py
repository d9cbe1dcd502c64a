"""Inputs of the laws, at one instant or in postures."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.contracts.plugins import FeedbackInput
from paprle.contracts.types import Vec
from paprle.haptics.arm import Posture
from paprle.haptics.follower_side import FollowerInLeaderJoints
from paprle.haptics.joints import LeaderJoints, LeaderLimb
from paprle.haptics.mirror import NOWHERE, Displacements

_N_POSTURES = 64  # chosen: with a factor of two in hand, the worst of so many will do
_TURN = np.pi  # [rad] chosen: how far joints without limits are tried to each side


class HapticInput(NamedTuple):
    """Instant of both sides; arrays of shape (M,), in [rad], [s], [m].

    Attributes:
        held: Certainty that the driven joint is held, −1 … 1.
        held_by_gate: Certainty that the gate holds it back, 0 … 1.
        held_part: Certainty that its arm is held, 0 … 1.
    """

    q: Vec
    dq: Vec
    dt: float
    in_leader_joints: FollowerInLeaderJoints
    clearance: float
    is_near: bool
    is_free: npt.NDArray[np.bool_]
    held: Vec
    held_by_gate: Vec
    held_part: Vec


def make_input(
    limb: LeaderLimb,
    joints: LeaderJoints,
    at: Posture | None,
    now: HapticInput,
    moves: Displacements = NOWHERE,
) -> FeedbackInput:
    """Return one limb's input, without kinematics if ``at`` is None."""
    rows, there = limb.rows, now.in_leader_joints
    return FeedbackInput(
        q=now.q[rows],
        dq=now.dq[rows],
        n_arm=limb.n_arm,
        q_gate=there.gate[rows],
        q_follower=there.follower[rows],
        q_model=there.model[rows],
        tau_follower=there.tau[rows],
        dx_gate=moves.gate,
        dx_follower=moves.follower,
        dx_model=moves.model,
        scale=moves.scale,
        J=None if at is None else at.J,
        gravity=np.zeros(len(limb.joint_names)) if at is None else at.gravity,
        gain_squared=joints.gain_squared[rows],
        damping=joints.damping[rows],
        viscous=joints.viscous[rows],
        coulomb=joints.coulomb[rows],
        q_base=joints.base[rows],
        q_min=joints.q_min[rows],
        q_max=joints.q_max[rows],
        clearance=now.clearance,
        is_near=now.is_near,
        is_free=now.is_free[rows],
        held=now.held[rows],
        held_by_gate=now.held_by_gate[rows],
        held_limb=float(now.held_part[rows.start]) if limb.n_arm else 0.0,
        drives=joints.drives[rows],
        dt=now.dt,
    )


def list_postures(limb: LeaderLimb, joints: LeaderJoints) -> Vec:
    """Return fixed postures of a limb, (N, m), [rad]."""
    rows, m = limb.rows, len(limb.joint_names)
    low = np.maximum(joints.q_min[rows], -_TURN)
    high = np.maximum(np.minimum(joints.q_max[rows], _TURN), low)
    return np.random.default_rng(0).uniform(low, high, (_N_POSTURES, m))


def sample_postures(
    limb: LeaderLimb,
    joints: LeaderJoints,
    is_driven: Vec,
    scale: float | None,
) -> list[FeedbackInput]:
    """Return inputs over a limb's workspace, NaN in unused values.

    ``is_driven`` is 0 or NaN by joint, shape (M,).
    """
    rows = limb.rows
    is_posed = limb.arm is not None and scale is not None
    moves = Displacements(*np.zeros((3, 6))) if is_posed else NOWHERE
    # efforts are measured by some; whether this one does is not known yet
    in_leader_joints = FollowerInLeaderJoints(
        is_driven, is_driven, is_driven, is_driven
    )
    q_all = np.zeros(len(joints.names))
    is_free = np.zeros(len(joints.names), dtype=np.bool_)
    found = []
    for q in list_postures(limb, joints):
        q_all[rows] = q
        now = HapticInput(
            q=q_all.copy(),
            dq=q_all,
            dt=0.0,
            in_leader_joints=in_leader_joints,
            clearance=np.inf,
            is_near=False,
            is_free=is_free,
            held=0.0 * q_all,
            held_by_gate=0.0 * q_all,
            held_part=0.0 * q_all,
        )
        at = None if limb.arm is None else limb.arm.place(q)
        gradient = None if limb.arm is None else limb.arm.gravity_gradient(q)
        s = 1.0 if scale is None else scale
        inputs = make_input(limb, joints, at, now, moves._replace(scale=s))
        found.append(dataclasses.replace(inputs, gravity_gradient=gradient))
    return found
