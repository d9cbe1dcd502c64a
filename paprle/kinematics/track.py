"""Steps towards a target, each only as far as it lowers the error.

A target out of reach is approached, never circled, and no other branch is looked for.
"""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled
from paprle.kinematics.pose import find_error
from paprle.kinematics.step import Point, find_step, linearise, make_point
from paprle.kinematics.task import PackedTask, Task, unpack
from paprle.types import Vec

_LARGEST_ITERATION = 0.5  # [rad] chosen: farther, the linearisation means little
_CURVATURE = 1.0  # [m/rad²] chosen: reach of an arm; what a step aside may cost
_LEAST_ASIDE = 1e-3  # [rad] chosen: the rest waits for the next solve
_LEAST_PROGRESS = 0.98  # [1] chosen: of the squared error; slower is as good as arrived
_LEAST_STEP = 1e-11  # [rad] chosen: far below any encoder
_N_BACKTRACKS = 3  # chosen: 1/64 of the step; if that is no better, nothing is
_FARTHEST = 1e6  # [m] chosen: a target beyond is no measurement
_ROTATION_ERROR = 1e-6  # [1] chosen: of ‖R‖²; far beyond rounding

Found = tuple[float, float, int, bool, bool]
"""Distance [m], angle [rad], steps computed, whether any was taken, and arrived."""


@compiled
def track(packed: PackedTask, T: Vec, q: Vec, reach: float) -> Found:
    """Move towards a target from nearby.

    Args:
        packed: The limb.
        T: Target pose T_base_eef, shape (4, 4).
        q: Where to start, shape (n,), [rad]; becomes the best position found.
        reach: Largest change of any joint, [rad].

    Returns:
        What is left; NaN where target or start are unusable.
    """
    if not is_usable(T, q):
        return math.nan, math.nan, 0, False, False
    task = unpack(packed)
    return iterate(task, T, make_point(task, q), reach)


@compiled
def is_usable(T: Vec, q: Vec) -> bool:
    """Tell whether the target is a pose and the start finite; NaN fails each test."""
    norm2, distance2, size = 0.0, 0.0, 0.0
    for a in range(3):
        distance2 += T[a, 3] * T[a, 3]
        for b in range(3):
            norm2 += T[a, b] * T[a, b]
    for j in range(len(q)):
        size += abs(q[j])
    is_rotation = abs(norm2 - 3.0) < _ROTATION_ERROR
    return is_rotation and distance2 < _FARTHEST**2 and size < math.inf


@compiled
def is_met(task: Task, err_pos: float, err_rot: float) -> bool:
    """Tell whether the tolerances are met."""
    is_turned = err_rot <= task.tol_rot or task.rotation_weight == 0.0
    return err_pos <= task.tol_pos and is_turned


@compiled
def iterate(task: Task, T: Vec, at: Point, reach: float) -> Found:
    """Step until the target is met, or no further step is worth it.

    Args:
        task: The limb.
        T: Target pose T_base_eef, shape (4, 4).
        at: Where it starts; its q becomes the best position found.
        reach: Largest change of any joint, [rad].

    Returns:
        What is left.
    """
    err_pos, err_rot = find_error(task, T, at.q, at.pose, at.e)
    at.q_start[:] = at.q
    is_moved, n_iterations = False, 0
    radius = min(reach, _LARGEST_ITERATION)
    while not is_met(task, err_pos, err_rot) and n_iterations < task.max_iterations:
        linearise(task, at)
        aside = find_step(task, at, radius, n_iterations == 0)
        n_iterations += 1
        cost = _weigh(task, err_pos, err_rot)
        share, pos, rot = _advance(task, T, at, reach, cost, aside)
        if share > 0.0:
            err_pos, err_rot, is_moved = pos, rot, True
        is_slow = _weigh(task, err_pos, err_rot) > _LEAST_PROGRESS * cost
        is_there = aside > 0.0 and err_pos <= task.tol_pos
        if (is_slow or is_there) and share * aside < _LEAST_ASIDE:
            break
    is_converged = is_met(task, err_pos, err_rot)
    return err_pos, err_rot, n_iterations, is_moved, is_converged


@compiled
def _weigh(task: Task, err_pos: float, err_rot: float) -> float:
    """Return the squared error of the first task."""
    r = task.rotation_weight if task.n_first > 3 else 0.0
    return err_pos * err_pos + r * r * err_rot * err_rot


@compiled
def _advance(
    task: Task, T: Vec, at: Point, reach: float, cost: float, aside: float
) -> tuple[float, float, float]:
    """Take as much of the step as lowers the error.

    Returns:
        The share of the step that was taken, 0 for none, and the errors there.
    """
    n, share = len(at.q), 1.0
    q = np.empty(n)
    for _ in range(_N_BACKTRACKS + 1):
        if not _go(task, at, share, reach, q):
            break
        err_pos, err_rot = find_error(task, T, q, at.pose, at.e)
        allowed = math.sqrt(cost) + _CURVATURE * (share * aside) ** 2
        if _weigh(task, err_pos, err_rot) < allowed * allowed:
            at.q[:] = q
            return share, err_pos, err_rot
        share *= 0.25
    return 0.0, math.nan, math.nan


@compiled
def _go(task: Task, at: Point, share: float, reach: float, q: Vec) -> bool:
    """Write where a share of the step leads; False where that is nowhere."""
    way = 0.0
    for j in range(len(q)):
        low, high = min(task.q_min[j], at.q[j]), max(task.q_max[j], at.q[j])
        q[j] = min(max(at.q[j] + share * at.step[j], low), high)  # against rounding
        way = max(way, abs(q[j] - at.q_start[j]))
    moved = 0.0
    for j in range(len(q)):
        if way > reach:
            q[j] = at.q_start[j] + (q[j] - at.q_start[j]) * (reach / way)
        moved = max(moved, abs(q[j] - at.q[j]))
    return moved >= _LEAST_STEP
