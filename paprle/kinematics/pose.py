"""Where an eef is, how far from its target, and how its joints move it.

Errors and Jacobians are in the axes of the eef: metres over radians. Against log₆ the
two are kept apart where a target cannot be reached (the nearest point stays the nearest
whatever the rotation lacks); to first order they are the same.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paprle.compiled import compiled
from paprle.kinematics.task import Task
from paprle.robot.arrays import place_joints
from paprle.types import Vec

_NEARLY_HALF_A_TURN = -0.99  # [1] chosen: cosine; beyond, sines lose half the digits
_SMALL = 1e-16  # [1] chosen: squared sine, below which angle and sine are one


class Pose(NamedTuple):
    """Where the joints and the eef are, in the base; arrays to write into.

    Attributes:
        R: Rotations of the joints, shape (m, 3, 3).
        p: Their origins, shape (m, 3), [m].
        R_eef: Rotation of the eef, shape (3, 3).
        p_eef: Its origin, shape (3,), [m].
    """

    R: Vec
    p: Vec
    R_eef: Vec
    p_eef: Vec


@compiled
def make_pose(m: int) -> Pose:
    """Return room for the pose of m joints."""
    return Pose(np.empty((m, 3, 3)), np.empty((m, 3)), np.empty((3, 3)), np.empty(3))


@compiled
def find_error(task: Task, T: Vec, q: Vec, pose: Pose, e: Vec) -> tuple[float, float]:
    """Return how far the eef is from its target.

    Args:
        task: The limb.
        T: Target pose T_base_eef, shape (4, 4).
        q: Joint positions, shape (n,), [rad].
        pose: Takes where everything is at q.
        e: Takes the error, target minus eef, in the axes of the eef, shape (6,).

    Returns:
        Distance [m] and angle [rad]; the angle between the free axes if there is one.
    """
    place_joints(task.tree, q, pose.R, pose.p)
    _place_eef(task, pose)
    R, p = pose.R_eef, pose.p_eef
    R_eef_target = np.empty((3, 3))
    for a in range(3):
        e[a] = 0.0
        for b in range(3):
            e[a] += R[b, a] * (T[b, 3] - p[b])
            R_eef_target[a, b] = (
                R[0, a] * T[0, b] + R[1, a] * T[1, b] + R[2, a] * T[2, b]
            )
    if task.free_axis < 0:
        take_log3(R_eef_target, e[3:])
    else:
        _turn_axis(R_eef_target, task.free_axis, e[3:])
    return _norm3(e[:3]), _norm3(e[3:])


@compiled
def _place_eef(task: Task, pose: Pose) -> None:
    """Write the pose of the eef from that of the last joint."""
    R, p = pose.R[-1], pose.p[-1]
    for a in range(3):
        pose.p_eef[a] = p[a]
        for b in range(3):
            pose.p_eef[a] += R[a, b] * task.p_eef[b]
            pose.R_eef[a, b] = (
                R[a, 0] * task.R_eef[0, b]
                + R[a, 1] * task.R_eef[1, b]
                + R[a, 2] * task.R_eef[2, b]
            )


@compiled
def _norm3(x: Vec) -> float:
    return math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])


@compiled
def take_log3(R: Vec, w: Vec) -> None:
    """Write the rotation vector of a rotation, of any angle up to half a turn.

    Args:
        R: The rotation, shape (3, 3).
        w: Takes its axis times its angle, shape (3,), [rad].
    """
    cosine = 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)
    w[0] = 0.5 * (R[2, 1] - R[1, 2])
    w[1] = 0.5 * (R[0, 2] - R[2, 0])
    w[2] = 0.5 * (R[1, 0] - R[0, 1])
    sine = _norm3(w)
    angle = math.atan2(sine, cosine)
    if cosine > _NEARLY_HALF_A_TURN:
        scale = angle / sine if sine * sine > _SMALL else 1.0
        for a in range(3):
            w[a] *= scale
        return
    # Here u uᵀ (1 − cos) = (R + Rᵀ)/2 − cos I tells the axis u but for its sign.
    k = 0
    for a in range(1, 3):
        if R[a, a] > R[k, k]:
            k = a
    sign = 1.0 if w[k] >= 0.0 else -1.0
    for a in range(3):
        w[a] = 0.5 * (R[a, k] + R[k, a]) - (cosine if a == k else 0.0)
    scale = sign * angle / _norm3(w)
    for a in range(3):
        w[a] *= scale


@compiled
def _turn_axis(R: Vec, k: int, w: Vec) -> None:
    """Write the shortest rotation vector that lays axis k onto its image under R."""
    i, j = (k + 1) % 3, (k + 2) % 3
    sine = math.hypot(R[i, k], R[j, k])
    angle = math.atan2(sine, R[k, k])
    w[k] = 0.0
    if sine * sine > _SMALL:
        w[i], w[j] = -R[j, k] * angle / sine, R[i, k] * angle / sine
    else:  # straight on, or straight back: about any axis across
        w[i], w[j] = angle, 0.0


@compiled
def find_jacobian(task: Task, pose: Pose, J: Vec) -> None:
    """Write the body Jacobian.

    Args:
        task: The limb.
        pose: Where it is.
        J: Takes twist of the eef over joint velocity, linear first, shape (6, n).
    """
    tree, R = task.tree, pose.R_eef
    J[:] = 0.0
    axis, arm, lever = np.empty(3), np.empty(3), np.empty(3)
    for i in range(len(tree.parent)):
        for a in range(3):
            arm[a] = pose.p_eef[a] - pose.p[i, a]
            axis[a] = 0.0
            for b in range(3):
                axis[a] += tree.scale[i] * pose.R[i, a, b] * tree.axis[i, b]
        lever[0] = axis[1] * arm[2] - axis[2] * arm[1]
        lever[1] = axis[2] * arm[0] - axis[0] * arm[2]
        lever[2] = axis[0] * arm[1] - axis[1] * arm[0]
        j = tree.column[i]
        for a in range(3):
            for b in range(3):
                if tree.is_prismatic[i]:
                    J[a, j] += R[b, a] * axis[b]
                else:
                    J[a, j] += R[b, a] * lever[b]
                    J[3 + a, j] += R[b, a] * axis[b]
