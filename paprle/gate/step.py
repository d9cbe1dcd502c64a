"""One period of the gate, compiled, around ``avoidance_qp``."""

from __future__ import annotations

import math

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.gate.contact.clearance import (
    IS_FREE,
    IS_WIDE,
    fill_rows,
    measure_all,
    measure_to_measured,
)
from paprle.gate.contact.scene import UNDECIDED, refuse
from paprle.gate.contact.stall_rest import (
    forget_kept,
    note_holds,
    rest_limbs,
    update_stall_timers,
)
from paprle.gate.contact.stop_pose_check import is_stop_pose_clear
from paprle.gate.contact.stops import verify_stop
from paprle.gate.contact.synchronised import (
    bound_ways,
    brake_synchronised,
    fill_ddq_sync,
    is_within,
)
from paprle.gate.contact.yielding import note_direction, yield_to_refusal
from paprle.gate.limits import (
    ROUNDING,
    Box,
    Limits,
    MotionState,
    are_finite,
    clip_goal,
    estimate_velocity,
    fill_box,
    fill_wanted,
    limit_along,
    limit_feedforward,
    place_next,
)
from paprle.gate.memory import view_memory
from paprle.gate.smoothing import smooth
from paprle.gate.tcp_limits import are_slow, fill_metric, slow_tools
from paprle.robot.arrays import Ints
from paprle.robot.braking import compute_stopping_distance

IS_UNVERIFIED = 32  # what was proposed has no verified stop; less of it is sent
IS_NOT_FINITE = 64  # the target is no target; braking is sent
_MOST_REFUSALS = 3  # spec: gate/contact/yielding.py: after so many a group only brakes
_STANDING = 1e-12  # [rad/s] chosen: a limb that is asked for less stays where it is


@compiled
def step(  # noqa: PLR0913, PLR0917 - a tuple costs a kernel more than its numbers
    floats: Vec,
    integers: Ints,
    h: float,
    scale: float,
    has_feedforward: bool,
    is_blocked: bool,
    is_chosen: bool,
) -> tuple[int, int, float]:
    """Write the next command toward the target; without one, brake.

    ``scale`` is the allowed share of V; ``is_blocked`` keeps the command within E of
    q_meas; ``is_chosen``, the second half, sends the QP's ``v_next``.

    Returns:
        Flags; number of rows if one is broken, else 0; smallest distance, [m].
    """
    if is_chosen:
        return _finish(floats, integers, h), 0, math.inf
    _, _, motion, _, _, _ = view_memory(floats, integers)
    if not are_finite(motion.target):
        return IS_NOT_FINITE, 0, _brake(floats, integers, h)
    return _advance(floats, integers, h, scale, has_feedforward, is_blocked)


@compiled
def _advance(
    floats: Vec,
    integers: Ints,
    h: float,
    scale: float,
    has_feedforward: bool,
    is_blocked: bool,
) -> tuple[int, int, float]:
    limits, box, motion, collision, tools, smoothing = view_memory(floats, integers)
    _begin(floats, integers, h, scale)
    clearance = _measure(floats, integers, h)
    is_known = are_finite(motion.q_meas)
    flags = clip_goal(limits, motion, is_blocked and is_known)
    if not has_feedforward:
        estimate_velocity(limits, h, motion)
    flags |= _propose(floats, integers, h, scale)
    forget_kept(motion)
    n_rows, state = fill_rows(collision, limits, h, box, motion.v_next)
    # what slides goes on by the rows: two ways to choose would take turns
    was_sliding, motion.is_sliding[0] = motion.is_sliding[0] > 0.0, 0.0
    if state == IS_FREE and not (was_sliding and n_rows > 0):
        flags |= _accept_or_scale_down(floats, integers, h, False)
        smooth(smoothing, motion.q_next, motion.v_next)
        return flags, 0, clearance
    if state == IS_WIDE and not was_sliding and _can_stop(floats, integers, h, True):
        smooth(smoothing, motion.q_next, motion.v_next)
        return flags, 0, clearance
    _brake_idle_limbs(limits, box)
    note_holds(limits, collision, motion, n_rows)
    fill_metric(tools, collision, motion, box)
    return flags, n_rows, clearance


@compiled
def _finish(floats: Vec, integers: Ints, h: float) -> int:
    limits, box, motion, collision, _, smoothing = view_memory(floats, integers)
    for i in range(len(motion.q_cmd)):
        motion.v_next[i] = min(max(motion.v_next[i], box.low[i]), box.high[i])
    update_stall_timers(limits, collision, h, motion, box, motion.v_next)
    _fill_next(limits, motion, h)
    flags = _accept_or_scale_down(floats, integers, h, True)
    smooth(smoothing, motion.q_next, motion.v_next)
    return flags


@compiled
def _brake(floats: Vec, integers: Ints, h: float) -> float:
    limits, box, motion, _, _, smoothing = view_memory(floats, integers)
    _begin(floats, integers, h, 0.0)
    clearance = _measure(floats, integers, h)
    motion.is_sliding[0], motion.stalled_for[:] = 0.0, 0.0
    forget_kept(motion)
    for i in range(len(motion.q_cmd)):
        motion.v_next[i] = box.brake[i]
        motion.dq_feedforward[i], motion.goal_prev[i] = 0.0, math.nan
    _fill_next(limits, motion, h)
    smooth(smoothing, motion.q_next, motion.v_next)
    return clearance


@compiled
def _begin(floats: Vec, integers: Ints, h: float, scale: float) -> None:
    limits, box, motion, _, _, _ = view_memory(floats, integers)
    for i in range(len(motion.q_cmd)):
        motion.q_cmd[i], motion.dq_cmd[i] = motion.q_next[i], motion.v_next[i]
    fill_box(limits, h, scale, motion.q_cmd, motion.dq_cmd, box)
    if motion.is_synchronised[0] > 0.0:
        brake_synchronised(limits, h, motion, box)


@compiled
def _measure(floats: Vec, integers: Ints, h: float) -> float:
    limits, box, motion, collision, _, _ = view_memory(floats, integers)
    c, q_meas, measured = motion.q_cmd, motion.q_meas, collision.measured
    travel = collision.scratch.travel
    sync_stop_distance = collision.scratch.sync_stop_distance
    if len(collision.scene.pairs.a) == 0:
        return math.inf
    is_known = are_finite(q_meas)
    for i in range(len(c)):
        speed = max(abs(box.low[i]), abs(box.high[i]))
        way = compute_stopping_distance(speed, limits.ddq_max[i], h)
        travel[i], measured.speed[i] = speed * h + way, speed
        measured.q_lag[i] = q_meas[i] - c[i] if is_known else 0.0
    bound_ways(limits, h, measured.speed, sync_stop_distance)
    measured.n_queries[0] = 0.0
    clearance = measure_all(collision, c, travel, sync_stop_distance)
    if is_known:
        clearance = min(clearance, measure_to_measured(collision, c))
    return clearance


@compiled
def _propose(floats: Vec, integers: Ints, h: float, scale: float) -> int:
    limits, box, motion, collision, tools, _ = view_memory(floats, integers)
    if not are_finite(motion.dq_des):
        motion.dq_des[:] = 0.0
    limit_feedforward(limits, h, scale, motion)
    for i in range(len(motion.q_cmd)):
        motion.goal_error[i] = motion.goal[i] - motion.q_cmd[i]
        motion.goal_prev[i] = motion.goal[i]
    flags = fill_wanted(limits, h, scale, motion, box)
    flags |= slow_tools(tools, collision, box, motion.q_cmd, motion.reaches_goal)
    flags |= rest_limbs(limits, collision, motion, box)
    flags |= limit_along(limits, box, motion.v_next, motion.reaches_goal)
    _fill_next(limits, motion, h)
    for i in range(len(motion.q_cmd)):
        if motion.reaches_goal[i] > 0.0:
            # the goal itself, so that a resting target is held to the bit
            motion.q_next[i] = motion.goal[i]
    return flags


@compiled
def _brake_idle_limbs(limits: Limits, box: Box) -> None:
    for g in range(len(limits.starts) - 1):
        group = limits.members[limits.starts[g] : limits.starts[g + 1]]
        largest = 0.0
        for i in group:
            largest = max(largest, abs(box.dq_goal[i]))
        if largest <= _STANDING:
            for i in group:
                box.low[i] = box.high[i] = box.brake[i]


@compiled
def _accept_or_scale_down(floats: Vec, integers: Ints, h: float, is_near: bool) -> int:
    limits, box, motion, collision, tools, _ = view_memory(floats, integers)
    motion.share[:], flags = 1.0, 0
    for _ in range(_MOST_REFUSALS * len(motion.share)):
        if _can_stop(floats, integers, h, is_near or flags > 0):
            return flags
        flags = IS_UNVERIFIED
        # braking alone was verified in the last period
        if not yield_to_refusal(limits, h, collision, tools, motion, box):
            return flags
    for i in range(len(motion.q_cmd)):
        motion.v_next[i] = box.brake[i]
        place_next(limits, h, motion, i)
    return flags


@compiled
def _can_stop(floats: Vec, integers: Ints, h: float, is_near: bool) -> bool:
    limits, _, motion, collision, _, _ = view_memory(floats, integers)
    if _is_safe(floats, integers, limits.ddq_max, h, is_near):
        motion.is_synchronised[0] = 0.0
        return True
    note_direction(collision)
    kind, index = collision.measured.refused[0], collision.measured.refused[1]
    fill_ddq_sync(limits, motion.v_next, motion.ddq_sync)
    is_safe = is_within(limits, h, motion)
    is_safe = is_safe and _is_safe(floats, integers, motion.ddq_sync, h, True)
    refuse(collision, kind, index)  # the harder stop tells the cause
    if not is_safe:
        return False
    motion.is_synchronised[0] = 1.0
    return True


@compiled
def _is_safe(
    floats: Vec, integers: Ints, ddq_max: Vec, h: float, is_near: bool
) -> bool:
    _, _, motion, collision, tools, _ = view_memory(floats, integers)
    c, v = motion.q_cmd, motion.v_next
    for i in range(len(v)):
        if not abs(v[i]) <= collision.measured.speed[i] + ROUNDING:
            # faster than what the pairs to look at are chosen for
            refuse(collision, UNDECIDED, 0)
            return False
    if is_near and not is_stop_pose_clear(collision, ddq_max, h, c, v):
        return False
    is_slow = are_slow(tools, collision, ddq_max, h, c, v)
    return is_slow and verify_stop(collision, ddq_max, h, c, v)


@compiled
def _fill_next(limits: Limits, motion: MotionState, h: float) -> None:
    for i in range(len(motion.q_cmd)):
        place_next(limits, h, motion, i)
