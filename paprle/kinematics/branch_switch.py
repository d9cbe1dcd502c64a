"""Steps towards a target, or to another posture where an arm is stuck."""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.kinematics.bounded_ik import (
    BIAS,
    DDQ_MAX,
    DQ_MAX,
    HIGH,
    LOW,
    Q_LAST_REACHED,
    bounded_step,
    iterate_qp,
)
from paprle.kinematics.global_ik import search
from paprle.kinematics.newton_ik import (
    LEAST_STEP,
    IkResult,
    is_met,
    newton_solve,
    split_pose,
)
from paprle.kinematics.pose import find_error, is_beyond
from paprle.kinematics.task import (
    MOBILITY,
    Q_MAX,
    Q_MIN,
    PackedTask,
    Q,
    assign,
    make_workspace,
    unpack,
)

_LEAST_REACH = 1e-9  # [rad] chosen: no way at all, as a positive number
_FAR = 0.1  # [m] chosen: what is missed by less is followed, not awaited
_KEPT = 1e-4  # [m] chosen: a hand that is nearer stays in its place
# [1] measured: of the straight way; 0.3 turns less, but leaves its place more often
_LEAST_SHARE = 0.05
# [1] measured: how much farther than straight; 1 turns longer, 20 leaves its place
_AT_ONCE = 3.0
_FREELY = 1e-4  # [1] chosen: of the weight of rotation: none beside the posture
_N_EVALUATIONS = 400  # chosen: 0.5 ms where there is no solution; 99 % are found in 200


@compiled
def solve_timed(
    packed: PackedTask, spread: Vec, T: Vec, q: Vec, reach: Vec, is_timed: bool
) -> IkResult:
    """Return the remaining error of a move, as ``newton_solve``.

    ``spread`` is ``make_spread``'s; a timed move goes nearest to the target within
    reach. With joints to spare, another posture is taken, if possible with the hand in
    its place.
    """
    start, task = q.copy(), unpack(packed)
    found = newton_solve(packed, T, q, reach)
    if is_timed and not found[4] and found[3]:
        found = _go_nearest(packed, T, start, reach, q)
    is_short = not (found[4] or math.isnan(found[0]))
    if not is_short or len(q) <= len(task.rows) or reach.max() < LEAST_STEP:
        return found
    other = start.copy()
    do_steps, is_found = _find_other(packed, spread, T, other)
    if not is_found or (do_steps and found[0] < _KEPT):
        return found
    share = 1.0
    for j in range(len(q)):
        way = abs(other[j] - start[j])
        if way > reach[j]:
            share = min(share, reach[j] / way)
    held = start.copy()
    pos, rot, is_kept = _go_in_place(packed, T, held, reach, share, other)
    if not is_kept:
        if do_steps and not (is_timed and found[0] >= _FAR):
            return found
        for j in range(len(q)):
            held[j] = start[j] + share * (other[j] - start[j])
        R_target, p_target = np.empty((3, 3)), np.empty(3)
        split_pose(T, R_target, p_target)
        work = make_workspace(task, R_target, p_target, held)
        pos, rot = find_error(task.tree, task.terms.free_axis, work, held)
    assign(q, held)
    return pos, rot, found[2], True, is_met(task.terms, pos, rot)


@compiled
def _find_other(packed: PackedTask, spread: Vec, T: Vec, q: Vec) -> tuple[bool, bool]:
    """Write a posture at the target; return if by steps, and if at all."""
    start = q.copy()
    if newton_solve(packed, T, q, np.full(len(q), math.inf))[4]:
        return True, True
    assign(q, start)
    if is_beyond(unpack(packed).tree, T[:3, 3].copy()):
        return False, False
    return False, search(packed, spread, T, q, _N_EVALUATIONS)[4]


@compiled
def _go_in_place(
    packed: PackedTask, T: Vec, q: Vec, reach: Vec, share: float, other: Vec
) -> tuple[float, float, bool]:
    R_target, p_target = np.empty((3, 3)), np.empty(3)
    split_pose(T, R_target, p_target)
    task, bounds_and_bias = unpack(packed), np.zeros((4, len(q)))
    work = make_workspace(task, R_target, p_target, q)
    joints = work.joints
    for j in range(len(q)):
        joints[Q_MIN, j] = max(min(joints[Q_MIN, j], q[j]), q[j] - reach[j])
        joints[Q_MAX, j] = min(max(joints[Q_MAX, j], q[j]), q[j] + reach[j])
        if joints[MOBILITY, j] > 0.0:
            way = min(_AT_ONCE * share, 1.0) * (other[j] - q[j])
            bounds_and_bias[LOW, j] = (joints[Q_MIN, j] - q[j]) / joints[MOBILITY, j]
            bounds_and_bias[HIGH, j] = (joints[Q_MAX, j] - q[j]) / joints[MOBILITY, j]
            bounds_and_bias[BIAS, j] = way / joints[MOBILITY, j]
    find_error(task.tree, task.terms.free_axis, work, q)
    at_rest = np.zeros((4, len(q)))
    _, pos, rot = iterate_qp(
        task, work, bounds_and_bias, at_rest, np.zeros(6), 1.0, _FREELY
    )
    least = (1.0 - _LEAST_SHARE * share) * _find_distance(other, q)
    for j in range(len(q)):  # against rounding
        q[j] = min(max(joints[Q, j], joints[Q_MIN, j]), joints[Q_MAX, j])
    return pos, rot, pos < _KEPT and _find_distance(other, q) < least


@inlined
def _find_distance(q: Vec, start: Vec) -> float:
    distance2 = 0.0
    for j in range(len(q)):
        distance2 += (q[j] - start[j]) ** 2
    return math.sqrt(distance2)


@compiled
def _go_nearest(packed: PackedTask, T: Vec, start: Vec, reach: Vec, q: Vec) -> IkResult:
    rates = np.zeros((4, len(q)))
    for j in range(len(q)):  # a call is the unit of time, and stops at once
        rates[DQ_MAX, j] = max(reach[j], _LEAST_REACH)
        rates[DDQ_MAX, j] = 2.0 * rates[DQ_MAX, j]
    assign(rates[Q_LAST_REACHED], start)
    assign(q, start)
    return bounded_step(packed, T, q, rates, np.zeros(6), 1.0)
