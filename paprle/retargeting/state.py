"""Anchors, target of a tick, and solution of the IK."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from paprle.contracts.types import Vec
from paprle.retargeting.rules.base import LimbRule
from paprle.robot.arrays import Bools, Ints


class Anchors(NamedTuple):
    """Anchors of m limbs at engagement.

    Attributes:
        L: Left rotations, shape (m, 3, 3).
        K: Right rotations, shape (m, 3, 3).
        p_0: Position of the command, shape (m, 3), [m].
        p_leader0: Position of the leader, shape (m, 3), [m]; NaN: the limb holds.
        scale: Of translations, shape (m,).
    """

    L: Vec
    K: Vec
    p_0: Vec
    p_leader0: Vec
    scale: Vec


class RetargetState(NamedTuple):
    """Drivers of all limbs.

    Attributes:
        driver: Each limb's leader limb, shape (m,); -1: it holds.
        pose_rows: The same for posed limbs; -1 for others.
        source: Joints' numbers in the sample, shape (n,); -1: none.
        line: Gain, offset, and bounds of the number, shape (n, 4).
    """

    anchors: Anchors
    driver: Ints
    pose_rows: Ints
    source: Ints
    line: Vec
    own: dict[int, tuple[LimbRule[Any], Any]]


class Target(NamedTuple):
    """Target that the leader asks of the robot.

    Attributes:
        T: T_base_eef by limb, shape (m, 4, 4).
        is_asked: Limbs with a pose, shape (m,).
        is_far: Limbs clamped to ``retarget.max_travel``, shape (m,).
        q: Joints and grippers, shape (n,), [rad] or [m]; NaN holds.
    """

    T: Vec
    is_asked: Bools
    is_far: Bools
    q: Vec


class Solution(NamedTuple):
    """Desired joints of the whole robot.

    Attributes:
        q_des: Shape (n,), [rad] or [m].
        err_pos: Remaining distance, shape (m,), [m]; NaN without a pose.
        err_rot: Remaining angle, shape (m,), [rad].
    """

    q_des: Vec
    err_pos: Vec
    err_rot: Vec
    is_converged: bool


def make_idle_state(n_limbs: int, n_joints: int) -> RetargetState:
    """Return a state of holding limbs."""
    m, n = n_limbs, n_joints
    anchors = Anchors(
        L=np.tile(np.eye(3), (m, 1, 1)),
        K=np.tile(np.eye(3), (m, 1, 1)),
        p_0=np.zeros((m, 3)),
        p_leader0=np.full((m, 3), np.nan),
        scale=np.ones(m),
    )
    nobody = np.full(m, -1, dtype=np.int64)
    source = np.full(n, -1, dtype=np.int64)
    line = np.tile([1.0, 0.0, -np.inf, np.inf], (n, 1))
    return RetargetState(anchors, nobody, nobody.copy(), source, line, {})


def make_target(n_limbs: int, n_joints: int) -> Target:
    """Return a target that asks for nothing."""
    is_asked, is_far = np.zeros((2, n_limbs), dtype=np.bool_)
    T = np.empty((n_limbs, 4, 4))
    return Target(T, is_asked, is_far, np.full(n_joints, np.nan))
