"""Velocities from which a joint can still stop, in closed form.

Time is discrete: v_k = (c_k − c_{k−1})/h, and braking takes A·h per period.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paprle.compiled import compiled, inlined
from paprle.contracts.types import RobotInfo, Vec
from paprle.robot.arrays import Ints
from paprle.robot.braking import compute_braking_velocity, compute_stopping_speed

ROUNDING = 1e-9  # chosen: far above rounding, far below anything that moves
_LEFT = 0.1  # chosen: share of A that is there to catch up, whatever the goal does
IS_FAST = 1  # a wish was scaled down to the velocity limits
IS_HELD = 2  # a wish was scaled down to what can still be stopped
NO_PAIR = -1  # nothing keeps a group back
IS_CLIPPED = 16  # a target was clipped to the position limits


class Limits(NamedTuple):
    """Limits of all joints, and the groups that keep a common direction.

    Attributes:
        q_min: Of commands, shape (n,), [rad] or [m].
        dq_max: V, shape (n,), [rad/s] or [m/s].
        ddq_max: A, shape (n,), [rad/s²] or [m/s²].
        lag_bound: E, +inf for grippers, shape (n,), [rad].
        members: Joints by group: a limb, or another joint, shape (n,).
        starts: Of groups in ``members``, and the end, shape (g + 1,).
    """

    q_min: Vec
    q_max: Vec
    dq_max: Vec
    ddq_max: Vec
    lag_bound: Vec
    members: Ints
    starts: Ints


class Box(NamedTuple):
    """Velocities that joints may have, shapes (n,), [rad/s].

    Attributes:
        brake: Full braking; always inside.
        dq_track: Feed-forward, within V.
        dq_goal: Velocity that reaches the goal soonest, within V.
    """

    brake: Vec
    low: Vec
    high: Vec
    dq_track: Vec
    dq_goal: Vec


class MotionState(NamedTuple):
    """State that changes from period to period, shapes (n,), [rad], unless stated.

    Attributes:
        dq_feedforward: Limited velocity of the target, [rad/s].
        ddq: Its acceleration, [rad/s²].
        target: Requested position; ``dq_des`` is its velocity, [rad/s].
        goal_prev: NaN if none.
        q_meas: Not finite if unknown.
        goal: Target within the position limits.
        reaches_goal: 1 where the next step reaches it.
        v_next: Velocity of ``q_next``, the next command, [rad/s].
        ddq_sync: Deceleration to a common rest, [rad/s²].
        is_synchronised: 1 if the verified stop brakes so, shape (1,).
        is_sliding: 1 if a row held the last velocity, shape (1,).
        stalled_for: Time of groups without headway, shape (g,), [s].
        stalled_goal: The goal when that began.
        stalled_at: The command then, shape (g, n).
        stalled_lag: The lag then, shape (g, n).
        can_stall: 1 where a row holds a group, and none waits, shape (g,).
        is_held_by: 1 where such rows depend on others' joints, shape (g, n).
        share: Of a group's proposal above braking, shape (g,).
        kept_by: Pair that holds a group, ``NO_PAIR``, or −1 − kind of another refusal,
            shape (g,).
    """

    q_cmd: Vec
    dq_cmd: Vec
    dq_feedforward: Vec
    ddq: Vec
    target: Vec
    dq_des: Vec
    goal_prev: Vec
    q_meas: Vec
    goal: Vec
    goal_error: Vec
    reaches_goal: Vec
    v_next: Vec
    q_next: Vec
    ddq_sync: Vec
    is_synchronised: Vec
    is_sliding: Vec
    stalled_for: Vec
    stalled_goal: Vec
    stalled_at: Vec
    stalled_lag: Vec
    can_stall: Vec
    is_held_by: Vec
    share: Vec
    kept_by: Ints


def make_groups(robot: RobotInfo) -> tuple[Ints, Ints]:
    """Return ``members`` and ``starts`` of limits."""
    index = {name: i for i, name in enumerate(robot.joint_names)}
    groups: list[list[int]] = []
    seen: set[int] = set()
    for limb in robot.limbs:
        groups.append([index[n] for n in limb.joint_names if index[n] not in seen])
        seen.update(groups[-1])
    groups += [[i] for i in index.values() if i not in seen]
    groups = [group for group in groups if group]
    members = [i for group in groups for i in group]
    starts = np.cumsum([0, *(len(group) for group in groups)])
    return np.array(members, dtype=np.int64), starts.astype(np.int64)


def make_limits(robot: RobotInfo, q_min: Vec, q_max: Vec, lag_bound: Vec) -> Limits:
    """Return a robot's limits; command limits and E have shape (n,)."""
    members, starts = make_groups(robot)
    return Limits(q_min, q_max, robot.dq_max, robot.ddq_max, lag_bound, members, starts)


@compiled
def fill_box(limits: Limits, h: float, scale: float, c: Vec, v: Vec, box: Box) -> None:
    """Write ``brake``, ``low`` and ``high`` after a command c at v (M3, M4, V1)."""
    for i in range(len(c)):
        change = limits.ddq_max[i] * h
        brake = compute_braking_velocity(v[i], limits.ddq_max[i], h)
        speed = max(limits.dq_max[i] * scale, abs(brake))
        # a joint that stands outside its limits may only come back in
        below = c[i] - min(limits.q_min[i], c[i])
        above = max(limits.q_max[i], c[i]) - c[i]
        low = -compute_stopping_speed(below, limits.ddq_max[i], h)
        high = compute_stopping_speed(above, limits.ddq_max[i], h)
        # V1 says braking is inside; the outer min and max are for its rounding
        box.brake[i] = brake
        box.low[i] = min(max(low, v[i] - change, -speed), brake)
        box.high[i] = max(min(high, v[i] + change, speed), brake)


@inlined
def place_next(limits: Limits, h: float, motion: MotionState, i: int) -> None:
    """Write a joint's command at ``v_next``, within limits."""
    c = motion.q_cmd[i]
    lower, upper = min(limits.q_min[i], c), max(limits.q_max[i], c)
    motion.q_next[i] = min(max(c + motion.v_next[i] * h, lower), upper)


@compiled
def clip_goal(limits: Limits, motion: MotionState, is_blocked: bool) -> int:
    """Write the goal: the target within the position limits.

    A joint outside is not sent farther out (M2); ``is_blocked`` keeps the goal within E
    of q_meas (L1).

    Returns:
        ``IS_CLIPPED`` or 0.
    """
    flags = 0
    for i in range(len(motion.q_cmd)):
        low = min(limits.q_min[i], motion.q_cmd[i])
        high = max(limits.q_max[i], motion.q_cmd[i])
        goal = min(max(motion.target[i], low), high)
        if is_blocked:
            E, q = limits.lag_bound[i], motion.q_meas[i]
            goal = min(max(goal, q - E), q + E)
            goal = min(max(goal, low), high)
        if goal != motion.target[i]:
            flags = IS_CLIPPED
        motion.goal[i] = goal
    return flags


@compiled
def estimate_velocity(limits: Limits, h: float, motion: MotionState) -> None:
    """Write the goal's velocity to ``dq_des``; 0 if it jumped."""
    for i in range(len(motion.q_cmd)):
        dq = (motion.goal[i] - motion.goal_prev[i]) / h
        motion.dq_des[i] = 0.0 if abs(dq) > limits.dq_max[i] else dq  # NaN stays


@compiled
def limit_feedforward(
    limits: Limits, h: float, scale: float, motion: MotionState
) -> None:
    """Move the feed-forward to the target's velocity, within V and A."""
    for i in range(len(motion.q_cmd)):
        speed, change = limits.dq_max[i] * scale, limits.ddq_max[i] * h
        wish, feed = 0.0, motion.dq_feedforward[i]
        if math.isfinite(motion.dq_des[i]):
            wish = min(max(motion.dq_des[i], -speed), speed)
        motion.dq_feedforward[i] = min(max(wish, feed - change), feed + change)
        motion.ddq[i] = (motion.dq_feedforward[i] - feed) / h


@compiled
def are_finite(values: Vec) -> bool:
    """Return whether all values are finite."""
    for value in values:  # noqa: SIM110 - Numba knows no generators
        if not math.isfinite(value):
            return False
    return True


@compiled
def fill_wanted(
    limits: Limits, h: float, scale: float, motion: MotionState, box: Box
) -> int:
    """Write ``dq_track`` and ``dq_goal``, which reaches the goal straight and soonest.

    One factor per group keeps the direction; a stopping speed prevents overshoot.

    Returns:
        ``IS_FAST`` or 0.
    """
    flags = 0
    for g in range(len(limits.starts) - 1):
        group = limits.members[limits.starts[g] : limits.starts[g + 1]]
        rate = 1.0 / h
        for i in group:
            distance = motion.goal_error[i] - motion.dq_feedforward[i] * h
            if distance != 0.0:
                A = limits.ddq_max[i]
                left = A + math.copysign(1.0, distance) * motion.ddq[i]
                left = min(max(left, _LEFT * A), A)
                distance = abs(distance)
                rate = min(rate, compute_stopping_speed(distance, left, h) / distance)
        share = 1.0
        for i in group:
            speed = max(limits.dq_max[i] * scale, abs(box.brake[i]))
            feed = motion.dq_feedforward[i]
            base = min(max(feed, -speed), speed)
            wanted = feed + rate * (motion.goal_error[i] - feed * h)
            box.dq_track[i], box.dq_goal[i] = base, wanted
            if abs(wanted) > speed:
                edge = math.copysign(speed, wanted)
                share = min(share, (edge - base) / (wanted - base))
        if share < 1.0:
            flags = IS_FAST
        for i in group:
            if share < 1.0:
                box.dq_goal[i] = box.dq_track[i] + share * (
                    box.dq_goal[i] - box.dq_track[i]
                )
            motion.reaches_goal[i] = rate * h >= 1.0 - 1e-12 and share >= 1.0
    return flags


@compiled
def limit_along(limits: Limits, box: Box, v: Vec, reaches_goal: Vec) -> int:
    """Write the velocity v nearest to the wanted one along its direction.

    It is base + t (wanted − base) with the largest t in [0, 1] inside the box or, if
    none is, start + s (wanted − start), start being the base clipped to the box. A
    joint that cannot follow holds up no other.

    Returns:
        ``IS_HELD`` or 0.
    """
    flags = 0
    for g in range(len(limits.starts) - 1):
        group = limits.members[limits.starts[g] : limits.starts[g + 1]]
        t, keeps = _find_scale(group, box)
        share = t if keeps else _find_share(group, box)
        for i in group:
            start = box.dq_track[i]
            if not keeps:
                start = min(max(start, box.low[i]), box.high[i])
            own = share
            if not keeps and _is_left_behind(box, i):
                own, reaches_goal[i], flags = 1.0, 0.0, IS_HELD
            v[i] = start + own * (box.dq_goal[i] - start)
            v[i] = min(max(v[i], box.low[i]), box.high[i])
        if share < 1.0 - ROUNDING:
            flags = IS_HELD
            for i in group:
                reaches_goal[i] = 0.0
    return flags


@compiled
def _find_scale(group: Ints, box: Box) -> tuple[float, bool]:
    t_max, t_min = math.inf, -math.inf
    for i in group:
        base = box.dq_track[i]
        w, low, high = box.dq_goal[i] - base, box.low[i] - base, box.high[i] - base
        if w == 0.0:
            # a joint that should stay as it is allows any t if it can, else none
            t_max = min(t_max, 1.0 if low <= 0.0 <= high else -1.0)
            t_min = max(t_min, 0.0)
        else:
            t_max = min(t_max, (high if w > 0.0 else low) / w)
            t_min = max(t_min, (low if w > 0.0 else high) / w)
    t = min(t_max, 1.0)
    # where braking begins, wanted stands on the edge of the box but for rounding
    return t, t >= max(t_min, 0.0) - ROUNDING and t_max >= 0.0


@compiled
def _find_share(group: Ints, box: Box) -> float:
    share = 1.0
    for i in group:
        if _is_left_behind(box, i):
            continue
        start = min(max(box.dq_track[i], box.low[i]), box.high[i])
        step = box.dq_goal[i] - start
        if abs(step) > ROUNDING * max(abs(start), 1e-3):
            edge = box.high[i] if step > 0.0 else box.low[i]
            share = min(share, (edge - start) / step)
    return max(share, 0.0)


@compiled
def _is_left_behind(box: Box, i: int) -> bool:
    return box.dq_track[i] != 0.0 and not box.low[i] <= box.dq_track[i] <= box.high[i]
