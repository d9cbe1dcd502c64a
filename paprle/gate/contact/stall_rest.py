"""Rest of blocked limbs, lest they creep or shake (decision 0012)."""

from __future__ import annotations

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.gate.contact.scene import Collision
from paprle.gate.limits import NO_PAIR, Box, Limits, MotionState
from paprle.gate.tcp_limits import STRAIGHT
from paprle.robot.arrays import Ints

IS_RESTING = 128  # a limb makes no headway beyond a body, and rests
_SLOW = 0.2  # measured: of V, as far as it is asked for; a slower joint creeps
# measured: of the same; of 0.02 one of 188 goals that are slid to is reached no more
_STANDING = 0.01
_SPEEDING_UP = 0.5  # [s] chosen: a longer time to V counts as that much slower
_LONG = 0.15  # [s] chosen: to start by A takes 0.1
_STILL = 1e-3  # [rad] chosen: a goal that moves by less does not move
# [rad] chosen: the goal of a hand that leans on a body changes by less, as the hand
# trembles or drifts for seconds; each end of a rest moves the limb for a moment
_WOKEN = 0.02
_MOVED = 0.01  # [rad] chosen: as far as a row is remembered
_ARRIVED = 0.05  # [rad] chosen: a creeping joint lags by less
HOLDS = 1e-6  # [m/rad] chosen: far above rounding, far below what moves a body


@compiled
def rest_limbs(
    limits: Limits, collision: Collision, motion: MotionState, box: Box
) -> int:
    """Clear wanted velocities of stalled limbs; return ``IS_RESTING`` or 0."""
    flags = 0
    for g in range(len(limits.starts) - 1):
        if motion.stalled_for[g] == 0.0:
            continue
        group = limits.members[limits.starts[g] : limits.starts[g + 1]]
        is_resting = motion.stalled_for[g] >= _LONG
        is_held = is_resting or motion.is_sliding[0] > 0.0
        bound = _WOKEN if is_resting else _STILL
        if not is_held or _has_changed(collision, motion, group, g, bound):
            motion.stalled_for[g] = 0.0
        elif is_resting:
            flags = IS_RESTING
            for i in group:
                box.dq_track[i] = box.dq_goal[i] = motion.reaches_goal[i] = 0.0
    return flags


@inlined
def forget_kept(motion: MotionState) -> None:
    """Clear the pairs that hold moving groups."""
    for g in range(len(motion.kept_by)):
        if motion.stalled_for[g] < _LONG:
            motion.kept_by[g] = NO_PAIR


@inlined
def _has_changed(
    collision: Collision, motion: MotionState, group: Ints, g: int, bound: float
) -> bool:
    # That is, another joint's command has, or the robot has arrived since.
    for i in group:
        is_goal = abs(motion.goal[i] - motion.stalled_goal[i]) <= bound
        if not is_goal or _has_arrived(collision, motion, g, i):
            return True
    for i in range(len(motion.q_cmd)):
        if motion.is_held_by[g, i] > 0.0:
            way = abs(motion.q_cmd[i] - motion.stalled_at[g, i])
            if way > _MOVED or _has_arrived(collision, motion, g, i):
                return True
    return False


@inlined
def _has_arrived(collision: Collision, motion: MotionState, g: int, i: int) -> bool:
    lag = collision.measured.q_lag[i]
    return bool(abs(lag - motion.stalled_lag[g, i]) > _ARRIVED)


@compiled
def note_holds(
    limits: Limits, collision: Collision, motion: MotionState, n_rows: int
) -> None:
    """Write ``is_held_by`` and ``can_stall``; rows that wait stall nothing."""
    rows, waits = collision.measured.rows, collision.measured.waits
    for g in range(len(limits.starts) - 1):
        if motion.stalled_for[g] >= _LONG:
            continue
        group = limits.members[limits.starts[g] : limits.starts[g + 1]]
        motion.is_held_by[g, :] = 0.0
        is_held, is_waiting = False, False
        for k in range(n_rows):
            if not _speaks_of(rows[k], group):
                continue
            is_held, is_waiting = True, is_waiting or waits[k] > 0.0
            for i in range(len(motion.q_cmd)):
                if abs(rows[k, i]) > HOLDS:
                    motion.is_held_by[g, i] = 1.0
        for i in group:
            motion.is_held_by[g, i] = 0.0
        motion.can_stall[g] = 1.0 if is_held and not is_waiting else 0.0


@inlined
def _speaks_of(row: Vec, group: Ints) -> bool:
    for i in group:  # noqa: SIM110 - no generators in kernels
        if abs(row[i]) > HOLDS:
            return True
    return False


@compiled
def update_stall_timers(
    limits: Limits,
    collision: Collision,
    h: float,
    motion: MotionState,
    box: Box,
    v: Vec,
) -> None:
    """Count limbs' time without headway at v, (n,), [rad/s]."""
    for g in range(len(limits.starts) - 1):
        if motion.stalled_for[g] >= _LONG:
            continue
        group = limits.members[limits.starts[g] : limits.starts[g + 1]]
        can_stall = motion.is_sliding[0] > 0.0 and motion.can_stall[g] > 0.0
        if not can_stall or _makes_headway(limits, motion, box, group, g, v):
            motion.stalled_for[g] = 0.0
            continue
        if motion.stalled_for[g] == 0.0:
            for i in group:
                motion.stalled_goal[i] = motion.goal[i]
            motion.stalled_at[g, :] = motion.q_cmd
            motion.stalled_lag[g, :] = collision.measured.q_lag
        motion.stalled_for[g] += h


@inlined
def _makes_headway(
    limits: Limits, motion: MotionState, box: Box, group: Ints, g: int, v: Vec
) -> bool:
    # Near its goal the pace brings a limb to rest, and a hand that leans on a body is
    # drawn along it to where it is led, the more slowly the nearer. Farther away, a
    # limb whose farthest joint is moved, if only aside, may get free in the end.
    way, share, time, farthest = 0.0, 0.0, 0.0, group[0]
    for i in group:
        error = abs(motion.goal_error[i])
        way = max(way, error)
        share = max(share, abs(box.dq_goal[i]) / limits.dq_max[i])
        if error / limits.dq_max[i] > time:
            time, farthest = error / limits.dq_max[i], i
    if way <= STRAIGHT:
        return True
    for i in group:
        speed = min(share * limits.dq_max[i], _SPEEDING_UP * limits.ddq_max[i])
        error = motion.goal_error[i]
        gain = v[i] if error > 0.0 else -v[i] if error < 0.0 else 0.0
        if gain >= _SLOW * speed:
            return True
        moved = abs(motion.q_cmd[i] - motion.stalled_at[g, i])
        has_begun = motion.stalled_for[g] > 0.0
        if i == farthest and has_begun and moved >= _STANDING * speed * _LONG:
            return True
    return False
