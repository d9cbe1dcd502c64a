"""Steps towards a target, only as far as they lower the error."""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.kinematics.dls_step import find_step
from paprle.kinematics.pose import find_error, linearise
from paprle.kinematics.task import (
    Q_MAX,
    Q_MIN,
    REACH,
    START,
    STEP,
    TRIAL,
    PackedTask,
    Q,
    Task,
    Terms,
    Workspace,
    assign,
    make_workspace,
    unpack,
)

_LARGEST_ITERATION = 0.5  # [rad] chosen: farther, the linearisation means little
_CURVATURE = 1.0  # [m/rad²] chosen: reach of an arm; what a step aside may cost
_LEAST_ASIDE = 1e-3  # [rad] chosen: the rest waits for the next solve
_SHORTER = 0.5  # [1] chosen: next to a step aside that went too far
_LEAST_PROGRESS = 0.98  # [1] chosen: of the squared error; slower is as good as arrived
LEAST_STEP = 1e-11  # [rad] chosen: far below any encoder
_N_BACKTRACKS = 3  # chosen: 1/64 of the step; if that is no better, nothing is
_FARTHEST = 1e6  # [m] chosen: a target beyond is no measurement
_ROTATION_ERROR = 1e-6  # [1] chosen: of ‖R‖²; far beyond rounding

IkResult = tuple[float, float, int, bool, bool]
"""Distance [m], angle [rad], steps computed, whether any was taken, and arrived."""


@compiled
def newton_solve(packed: PackedTask, T: Vec, q: Vec, reach: Vec) -> IkResult:
    """Return the error of a move towards T, (4, 4), near; NaN if unusable.

    ``q``, (n,), [rad], becomes the best position, at most ``reach``, (n,), [rad], away.
    """
    R_target, p_target = np.empty((3, 3)), np.empty(3)
    split_pose(T, R_target, p_target)
    if not is_usable(R_target, p_target, q):
        return math.nan, math.nan, 0, False, False
    task = unpack(packed)
    work = make_workspace(task, R_target, p_target, q)
    assign(work.joints[REACH], reach)
    found = iterate(task, work)
    assign(q, work.joints[Q])
    return found


@inlined
def split_pose(T: Vec, R: Vec, p: Vec) -> None:
    """Write rotation and origin of a pose, (4, 4)."""
    for a in range(3):
        p[a] = T[a, 3]
        for b in range(3):
            R[a, b] = T[a, b]


@inlined
def is_usable(R: Vec, p: Vec, q: Vec) -> bool:
    """Return whether target and start are usable."""
    norm2, distance2, size, volume = 0.0, 0.0, 0.0, 0.0
    for a in range(3):
        distance2 += p[a] * p[a]
        c, d = (a + 1) % 3, (a + 2) % 3
        volume += R[0, a] * (R[1, c] * R[2, d] - R[1, d] * R[2, c])
        for b in range(3):
            norm2 += R[a, b] * R[a, b]
    for j in range(len(q)):
        size += abs(q[j])
    # of all matrices with determinant 1 only rotations have ‖R‖² = 3, the least
    is_rotation = max(abs(norm2 - 3.0), abs(volume - 1.0)) < _ROTATION_ERROR
    return is_rotation and distance2 < _FARTHEST**2 and size < math.inf


@inlined
def is_met(terms: Terms, err_pos: float, err_rot: float) -> bool:
    """Return whether the tolerances are met."""
    is_turned = err_rot <= terms.tol_rot or terms.rotation_weight == 0.0
    return err_pos <= terms.tol_pos and is_turned


@compiled
def iterate(task: Task, work: Workspace) -> IkResult:
    """Step until the target is met or steps gain nothing; return the error."""
    terms, joints = task.terms, work.joints
    assign(joints[START], joints[Q])
    err_pos, err_rot = find_error(task.tree, terms.free_axis, work, joints[Q])
    n, is_moved, farthest = 0, False, 0.0
    for j in range(joints.shape[1]):
        farthest = max(farthest, joints[REACH, j])
    radius, most_aside = min(farthest, _LARGEST_ITERATION), math.inf
    while n < terms.max_iterations and not is_met(terms, err_pos, err_rot):
        linearise(task, work)
        aside = find_step(terms, work.A, work.b, joints, radius, most_aside, n == 0)
        n += 1
        cost = _weigh(terms, err_pos, err_rot)
        share, pos, rot = _advance(task, work, cost, aside)
        if share > 0.0:
            if n > 1 and (pos >= max(err_pos, terms.tol_pos) or rot >= err_rot):
                most_aside = _SHORTER * share * aside
            err_pos, err_rot, is_moved = pos, rot, True
        is_slow = _weigh(terms, err_pos, err_rot) > _LEAST_PROGRESS * cost
        is_there = aside > 0.0 and err_pos <= terms.tol_pos
        if (is_slow or is_there) and share * aside < _LEAST_ASIDE:
            break
    return err_pos, err_rot, n, is_moved, is_met(terms, err_pos, err_rot)


@compiled
def _weigh(terms: Terms, err_pos: float, err_rot: float) -> float:
    r = terms.rotation_weight if terms.n_first > 3 else 0.0
    return err_pos * err_pos + r * r * err_rot * err_rot


@compiled
def _advance(
    task: Task, work: Workspace, cost: float, aside: float
) -> tuple[float, float, float]:
    terms, joints, share = task.terms, work.joints, 1.0
    for _ in range(_N_BACKTRACKS + 1):
        if not _go(joints, share):
            break
        pos, rot = find_error(task.tree, terms.free_axis, work, joints[TRIAL])
        allowed = math.sqrt(cost) + _CURVATURE * (share * aside) ** 2
        if _weigh(terms, pos, rot) < allowed * allowed:
            assign(joints[Q], joints[TRIAL])
            return share, pos, rot
        share *= 0.25
    return 0.0, math.nan, math.nan


@compiled
def _go(joints: Vec, share: float) -> bool:
    n, way = joints.shape[1], 0.0
    for j in range(n):
        q = joints[Q, j]
        low, high = min(joints[Q_MIN, j], q), max(joints[Q_MAX, j], q)
        q = min(max(q + share * joints[STEP, j], low), high)  # against rounding
        joints[TRIAL, j] = q
        change = abs(q - joints[START, j])
        if change > joints[REACH, j]:
            way = max(way, change / joints[REACH, j])
    moved = 0.0
    for j in range(n):
        if way > 1.0:
            start = joints[START, j]
            joints[TRIAL, j] = start + (joints[TRIAL, j] - start) / way
        moved = max(moved, abs(joints[TRIAL, j] - joints[Q, j]))
    return moved >= LEAST_STEP
