"""Pose of an eef, its error to a target, and its Jacobian, in the eef's axes.

Metres and radians stay apart, unlike log₆.
"""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.kinematics.task import MOBILITY, Task, Workspace
from paprle.robot.arrays import Tree, place_joints

_NEARLY_HALF_A_TURN = -0.99  # [1] chosen: cosine; beyond, sines lose half the digits
_SMALL = 1e-16  # [1] chosen: squared sine, below which angle and sine are one


@compiled
def find_error(
    tree: Tree, free_axis: int, work: Workspace, q: Vec
) -> tuple[float, float]:
    """Return the eef's distance [m] and angle [rad] from its target.

    ``work`` takes poses at q, (n,), and the error, target minus eef. With a free axis
    (-1: none) the angle is between axes.
    """
    place_joints(tree, q, work.R, work.p)
    R, p, R_target, p_target, e = (
        work.R[-1],
        work.p[-1],
        work.R_target,
        work.p_target,
        work.e,
    )
    R_eef_target = np.empty((3, 3))
    for a in range(3):
        e[a] = 0.0
        for b in range(3):
            e[a] += R[b, a] * (p_target[b] - p[b])
            R_eef_target[a, b] = (
                R[0, a] * R_target[0, b]
                + R[1, a] * R_target[1, b]
                + R[2, a] * R_target[2, b]
            )
    if free_axis < 0:
        compute_log3(R_eef_target, e[3:])
    else:
        _turn_axis(R_eef_target, free_axis, e[3:])
    return _norm3(e[:3]), _norm3(e[3:])


@inlined
def _norm3(x: Vec) -> float:
    return math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])


@inlined
def compute_log3(R: Vec, w: Vec) -> None:
    """Write the rotation vector w, (3,), [rad], up to half a turn."""
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


@inlined
def _turn_axis(R: Vec, k: int, w: Vec) -> None:
    """Write the shortest rotation vector that lays axis k onto its image."""
    i, j = (k + 1) % 3, (k + 2) % 3
    sine = math.hypot(R[i, k], R[j, k])
    angle = math.atan2(sine, R[k, k])
    w[k] = 0.0
    if sine * sine > _SMALL:
        w[i], w[j] = -R[j, k] * angle / sine, R[i, k] * angle / sine
    else:  # straight on, or straight back: about any axis across
        w[i], w[j] = angle, 0.0


@compiled
def linearise(task: Task, work: Workspace) -> None:
    """Write A = Q^½ J W^½ and b = Q^½ e."""
    tree, A = task.tree, work.A
    for i in range(len(task.rows)):
        work.b[i] = task.weights[i] * work.e[task.rows[i]]
        for j in range(A.shape[1]):
            A[i, j] = 0.0
    twist = np.empty(6)
    for i in range(len(tree.parent) - 1):
        _find_twist(work.R, work.p, i, tree.axis[i], tree.is_prismatic[i], twist)
        j = tree.column[i]
        for k in range(len(task.rows)):
            share = tree.scale[i] * task.weights[k] * task.joints[MOBILITY, j]
            A[k, j] += share * twist[task.rows[k]]


@inlined
def _find_twist(
    R: Vec, p: Vec, i: int, axis: Vec, is_prismatic: bool, twist: Vec
) -> None:
    x = R[i, 0, 0] * axis[0] + R[i, 0, 1] * axis[1] + R[i, 0, 2] * axis[2]
    y = R[i, 1, 0] * axis[0] + R[i, 1, 1] * axis[1] + R[i, 1, 2] * axis[2]
    z = R[i, 2, 0] * axis[0] + R[i, 2, 1] * axis[1] + R[i, 2, 2] * axis[2]
    u, v, w = p[-1, 0] - p[i, 0], p[-1, 1] - p[i, 1], p[-1, 2] - p[i, 2]
    for a in range(3):
        along = R[-1, 0, a] * x + R[-1, 1, a] * y + R[-1, 2, a] * z
        across = (
            R[-1, 0, a] * (y * w - z * v)
            + R[-1, 1, a] * (z * u - x * w)
            + R[-1, 2, a] * (x * v - y * u)
        )
        twist[a] = along if is_prismatic else across
        twist[3 + a] = 0.0 if is_prismatic else along


@inlined
def is_beyond(tree: Tree, p: Vec) -> bool:
    """Return whether a point in the base, (3,), [m], is beyond all links' length.

    Never where a joint slides.
    """
    length, distance2 = 0.0, 0.0
    for i in range(len(tree.parent)):
        if tree.is_prismatic[i]:
            return False
        link2 = 0.0
        for a in range(3):
            link2 += tree.p[i, a] ** 2
        length += math.sqrt(link2)
    for a in range(3):
        distance2 += p[a] ** 2
    return distance2 > length * length
