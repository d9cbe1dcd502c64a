"""The set of velocities from which a joint can still stop; closed form, compiled.

Time is discrete: commands are c_k, v_k = (c_k − c_{k−1})/h, and braking takes A·h off
the speed each period.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paprle.compiled import compiled
from paprle.robot.arrays import Ints
from paprle.types import RobotInfo, Vec

_ROUNDING = 1e-9  # chosen: far above rounding, far below anything that moves
_FAR = 1e6  # [rad] chosen: stands for "no limit"; keeps the closed form finite
IS_FAST = 1  # a wish was scaled down to the velocity limits
IS_HELD = 2  # a wish was scaled down to what can still be stopped
IS_CLIPPED = 16  # a target was clipped to the position limits


class Limits(NamedTuple):
    """Limits of all joints, and which keep a common direction.

    Attributes:
        q_min: Lower limits of commands, shape (n,), [rad] or [m].
        q_max: Upper limits.
        dq_max: V, shape (n,), [rad/s] or [m/s].
        ddq_max: A, shape (n,), [rad/s²] or [m/s²].
        leash: E, +inf for grippers, shape (n,), [rad].
        members: Joints, those of a group one after the other, shape (n,). A group is a
            limb, or any other joint by itself.
        starts: Where each group starts in ``members``, and the end, shape (g + 1,).
    """

    q_min: Vec
    q_max: Vec
    dq_max: Vec
    ddq_max: Vec
    leash: Vec
    members: Ints
    starts: Ints


class Box(NamedTuple):
    """Velocities a period may have, joint by joint, shapes (n,), [rad/s].

    Attributes:
        brake: Full braking; always inside.
        low: Lower corner.
        high: Upper corner.
        wanted: What reaches the goal soonest, within V.
    """

    brake: Vec
    low: Vec
    high: Vec
    wanted: Vec


class Motion(NamedTuple):
    """What changes from period to period, shapes (n,).

    Attributes:
        c: Last command, [rad] or [m].
        v: Its velocity, [rad/s] or [m/s].
        feed: Feed-forward as far as it was followed, [rad/s].
        target: Where to go, as it was asked, [rad].
        dq_des: Velocity of the target, [rad/s].
        q_meas: Measured positions, [rad]; not finite where not known.
        goal: Where to go, within what is allowed, [rad].
        error: Goal minus last command, [rad].
        exact: 1 where the next step reaches the goal.
        v_next: Velocity of the next command, [rad/s].
        q_next: The next command, [rad].
    """

    c: Vec
    v: Vec
    feed: Vec
    target: Vec
    dq_des: Vec
    q_meas: Vec
    goal: Vec
    error: Vec
    exact: Vec
    v_next: Vec
    q_next: Vec


def make_groups(robot: RobotInfo) -> tuple[Ints, Ints]:
    """Return ``members`` and ``starts`` of a robot's limits."""
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


@compiled
def compute_stopping_speed(distance: float, ddq_max: float, h: float) -> float:
    """Return the highest speed that still stops within a distance.

    Braking from v that starts in the next period covers
    S(v) = (n + 1) v h − A h² n(n + 1)/2 with n = ⌊v/(A h)⌋, this period's step
    included. S is continuous and monotone; this is its inverse,
    v = (d + A h² n(n + 1)/2) / ((n + 1) h), n = ⌊(√(1 + 8 d/(A h²)) − 1)/2⌋.
    The textbook √(2 A d) overshoots.

    Args:
        distance: Distance to the bound, [rad]; negative counts as 0.
        ddq_max: Acceleration limit A, [rad/s²].
        h: Period, [s].

    Returns:
        The speed, [rad/s], never more than ``distance / h``.

    References:
        docs/SAFETY.md, V1.
    """
    d = min(max(distance, 0.0), _FAR)
    unit = ddq_max * (h * h)
    n = math.floor((math.sqrt(1.0 + 8.0 * d / unit) - 1.0) / 2.0)
    return float((d + unit * n * (n + 1.0) / 2.0) / ((n + 1.0) * h))


@compiled
def compute_stopping_distance(speed: float, ddq_max: float, h: float) -> float:
    """Return how far a joint still goes when every next period brakes, [rad]."""
    n = math.floor(speed / (ddq_max * h))
    return float(n * speed * h - ddq_max * h * h * n * (n + 1.0) / 2.0)


@compiled
def compute_braking_velocity(v: float, ddq_max: float, h: float) -> float:
    """Return the velocity after one period of full braking, [rad/s]."""
    return math.copysign(max(abs(v) - ddq_max * h, 0.0), v)


@compiled
def fill_box(limits: Limits, h: float, scale: float, c: Vec, v: Vec, box: Box) -> None:
    """Write what each joint may do in this period (M3, M4, V1).

    Args:
        limits: Limits.
        h: Period, [s].
        scale: Share of V that is allowed.
        c: Last command, shape (n,), [rad].
        v: Its velocity, shape (n,), [rad/s].
        box: Takes ``brake``, ``low`` and ``high``.
    """
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


@compiled
def clip_goal(limits: Limits, motion: Motion, is_blocked: bool) -> int:
    """Write the target clipped to the position limits and, if blocked, to a leash.

    A joint outside its limits is not sent farther out (M2); a leashed command that is
    too far ahead of the robot is drawn back (L1).

    Args:
        limits: Limits.
        motion: Takes ``goal``.
        is_blocked: Whether to leash.

    Returns:
        ``IS_CLIPPED`` or 0.
    """
    flags = 0
    for i in range(len(motion.c)):
        low = min(limits.q_min[i], motion.c[i])
        high = max(limits.q_max[i], motion.c[i])
        goal = min(max(motion.target[i], low), high)
        if is_blocked:
            E, q = limits.leash[i], motion.q_meas[i]
            goal = min(max(goal, q - E), q + E)
            goal = min(max(goal, low), high)
        if goal != motion.target[i]:
            flags = IS_CLIPPED
        motion.goal[i] = goal
    return flags


@compiled
def follow_feed(limits: Limits, h: float, scale: float, motion: Motion) -> None:
    """Move the feed-forward to the target's velocity, as a joint could."""
    for i in range(len(motion.c)):
        speed, change = limits.dq_max[i] * scale, limits.ddq_max[i] * h
        wish = min(max(motion.dq_des[i], -speed), speed)
        feed = motion.feed[i]
        motion.feed[i] = min(max(wish, feed - change), feed + change)


@compiled
def are_finite(values: Vec) -> bool:
    """Tell whether all values are finite."""
    for value in values:  # noqa: SIM110 - Numba knows no generators
        if not math.isfinite(value):
            return False
    return True


@compiled
def fill_wanted(  # noqa: PLR0913, PLR0917 - the maths has that many symbols
    limits: Limits, h: float, scale: float, error: Vec, feed: Vec, box: Box, exact: Vec
) -> int:
    """Write the velocities that reach the goal soonest and straight.

    The error is taken relative to a target that moves at the feed-forward velocity.
    One factor for a group keeps the direction, and the stopping speed of the distance
    that is left keeps it from overshooting.

    Args:
        limits: Limits.
        h: Period, [s].
        scale: Share of V that is allowed.
        error: Goal minus last command, shape (n,), [rad].
        feed: Feed-forward, shape (n,), [rad/s].
        box: Takes ``wanted``.
        exact: Takes 1 where this very step reaches the goal, else 0, shape (n,).

    Returns:
        ``IS_FAST`` or 0.
    """
    flags = 0
    for g in range(len(limits.starts) - 1):
        group = limits.members[limits.starts[g] : limits.starts[g + 1]]
        rate = 1.0 / h
        for i in group:
            distance = abs(error[i] - feed[i] * h)
            if distance > 0.0:
                stopping = compute_stopping_speed(distance, limits.ddq_max[i], h)
                rate = min(rate, stopping / distance)
        over = 0.0
        for i in group:
            wanted = feed[i] + rate * (error[i] - feed[i] * h)
            speed = max(limits.dq_max[i] * scale, abs(box.brake[i]))
            box.wanted[i] = wanted
            over = max(over, abs(wanted) / speed)
        if over > 1.0:
            flags = IS_FAST
        for i in group:
            box.wanted[i] /= max(over, 1.0)
            exact[i] = rate * h >= 1.0 - 1e-12 and over <= 1.0
    return flags


@compiled
def limit_along(limits: Limits, box: Box, v: Vec, exact: Vec) -> int:
    """Write what comes nearest to the wanted velocity, keeping its direction.

    The largest t in [0, 1] with t · wanted inside the box keeps the direction of a
    group exactly. Where no t is inside (the motion is turning), brake +
    s (wanted − brake) with the largest s is taken instead: full braking is always
    inside, so there is always an answer.

    Args:
        limits: Gives the groups.
        box: The box and what is wanted.
        v: Takes the velocity, shape (n,), [rad/s].
        exact: Set to 0 where it is not the wanted one, shape (n,).

    Returns:
        ``IS_HELD`` or 0.
    """
    flags = 0
    for g in range(len(limits.starts) - 1):
        group = limits.members[limits.starts[g] : limits.starts[g + 1]]
        t, keeps = _find_scale(group, box)
        share = t if keeps else _find_share(group, box)
        for i in group:
            if keeps:
                v[i] = t * box.wanted[i]
            else:
                v[i] = box.brake[i] + share * (box.wanted[i] - box.brake[i])
            v[i] = min(max(v[i], box.low[i]), box.high[i])
        if share < 1.0 - _ROUNDING:
            flags = IS_HELD
            for i in group:
                exact[i] = 0.0
    return flags


@compiled
def _find_scale(group: Ints, box: Box) -> tuple[float, bool]:
    """Return the largest t in [0, 1] with t · wanted in the box, and if it is in."""
    t_max, t_min = math.inf, -math.inf
    for i in group:
        w, low, high = box.wanted[i], box.low[i], box.high[i]
        if w == 0.0:
            # a joint that should rest allows any t if resting is inside, else none
            t_max = min(t_max, 1.0 if low <= 0.0 <= high else -1.0)
            t_min = max(t_min, 0.0)
        else:
            t_max = min(t_max, (high if w > 0.0 else low) / w)
            t_min = max(t_min, (low if w > 0.0 else high) / w)
    t = min(t_max, 1.0)
    # where braking begins, wanted stands on the edge of the box but for rounding
    return t, t >= max(t_min, 0.0) - _ROUNDING and t_max >= 0.0


@compiled
def _find_share(group: Ints, box: Box) -> float:
    """Return the largest s in [0, 1] with brake + s (wanted − brake) in the box."""
    share = 1.0
    for i in group:
        step = box.wanted[i] - box.brake[i]
        if abs(step) > _ROUNDING * max(abs(box.brake[i]), 1e-3):
            edge = box.high[i] if step > 0.0 else box.low[i]
            share = min(share, (edge - box.brake[i]) / step)
    return max(share, 0.0)
