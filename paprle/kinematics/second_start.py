"""Towards a target from nearby, or from another posture where that is stuck.

An arm with joints to spare may stand at a limit, or on the wrong side of a singularity,
where no small step leads nearer to a target that it could reach otherwise. Then the
nearest posture that reaches the target is looked for (``global_ik``), and the joints go
straight there. Each call decides anew: from the moment on that steps reach the target,
steps are taken, so that calls do not contradict each other. Told the time, an arm that
is far off goes straight, too, to the posture that steps would end in: what leads
nearest within V may fold it the wrong way, and is not the quickest.

Arms without joints to spare stay on the branch that they are on: another one is far
away, and whoever asks for a target beyond a limit expects the arm to stop there.
"""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.kinematics.bounded_ik import DDQ_MAX, DQ_MAX, MET, follow
from paprle.kinematics.global_ik import search
from paprle.kinematics.newton_ik import (
    LEAST_STEP,
    Found,
    is_met,
    split_pose,
    track,
)
from paprle.kinematics.pose import find_error, is_beyond
from paprle.kinematics.task import PackedTask, assign, make_workspace, unpack

_LEAST_REACH = 1e-9  # [rad] chosen: no way at all, as a positive number
_FAR = 0.1  # [m] chosen: what is missed by less is followed, not awaited
_N_EVALUATIONS = 400  # chosen: 0.5 ms where there is no solution; 99 % are found in 200


@compiled
def pursue(
    packed: PackedTask, spread: Vec, T: Vec, q: Vec, reach: Vec, is_timed: bool
) -> Found:
    """Move towards a target.

    Args:
        packed: The limb.
        spread: See ``make_spread``.
        T: Target pose T_base_eef, shape (4, 4).
        q: Where to start, shape (n,), [rad]; becomes the best position found.
        reach: Largest change of each joint, shape (n,), [rad].
        is_timed: What goes beyond is not cut off with its direction kept, but is what
            leads nearest to the target within it.

    Returns:
        What is left; NaN where target or start are unusable.
    """
    start, task = q.copy(), unpack(packed)
    found = track(packed, T, q, reach)
    if is_timed and not found[4] and found[3]:
        found = _go_nearest(packed, T, start, reach, q)
    if found[4] or math.isnan(found[0]) or len(q) <= len(task.rows):
        return found
    if reach.max() < LEAST_STEP:
        return found
    other = start.copy()
    if not _find_other(packed, spread, T, other, is_timed and found[0] >= _FAR):
        return found
    share = 1.0
    for j in range(len(q)):
        way = abs(other[j] - start[j])
        if way > reach[j]:
            share = min(share, reach[j] / way)
    for j in range(len(q)):
        q[j] = start[j] + share * (other[j] - start[j])
    R_target, p_target = np.empty((3, 3)), np.empty(3)
    split_pose(T, R_target, p_target)
    work = make_workspace(task, R_target, p_target, q)
    pos, rot = find_error(task.tree, task.terms.free_axis, work, q)
    return pos, rot, found[2], True, is_met(task.terms, pos, rot)


@compiled
def _find_other(packed: PackedTask, spread: Vec, T: Vec, q: Vec, is_far: bool) -> bool:
    """Write a posture that reaches the target; False where steps are to be taken."""
    start = q.copy()
    if track(packed, T, q, np.full(len(q), math.inf))[4]:
        return is_far
    assign(q, start)
    if is_beyond(unpack(packed).tree, T[:3, 3].copy()):
        return False
    return search(packed, spread, T, q, _N_EVALUATIONS)[4]


@compiled
def _go_nearest(packed: PackedTask, T: Vec, start: Vec, reach: Vec, q: Vec) -> Found:
    """Write what leads nearest to a target within the reach of one call."""
    rates = np.zeros((4, len(q)))
    for j in range(len(q)):  # a call is the unit of time, and stops at once
        rates[DQ_MAX, j] = max(reach[j], _LEAST_REACH)
        rates[DDQ_MAX, j] = 2.0 * rates[DQ_MAX, j]
    assign(rates[MET], start)
    assign(q, start)
    return follow(packed, T, q, rates, np.zeros(6), 1.0)
