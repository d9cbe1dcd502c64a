"""Clearance (C1): how near bodies are, and rows that slow an approach down.

For each pair that could come too near in this period, ḋ = g·v may close no faster than
still stops before the clearance to keep. Such rows are linear and slide along an
obstacle, but only as good as the linearisation: ``paprle.gate.stops`` verifies what
comes of them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.gate.limits import (
    Box,
    Limits,
)
from paprle.robot.arrays import Bodies, Ints, Pairs, Tree, place_joints
from paprle.robot.bodies import place_bodies
from paprle.robot.braking import compute_stopping_speed
from paprle.robot.distance import bound_along, bound_pair, measure_pair

_AIM = 1e-3  # [m] chosen: rows keep this much more, for what linearising loses
_CURVED = 0.8  # chosen: share of the braking power that rows count on
_OUTWARD = 0.05  # chosen: share of what is missing that a period makes up, if moving
_MOVING = 1e-9  # [rad/s] chosen: below this nothing is asked for
N_PARTS = 4  # chosen: of the way back to the robot; the end of each is looked at
IS_FREE, IS_WIDE, IS_CLOSE = range(3)
_ROUNDING = 1e-9  # chosen: far above rounding, far below anything that moves


class Scene(NamedTuple):
    """What may collide, and where it is while it is being looked at.

    k pairs of b bodies on m joints, driven by n positions.

    Attributes:
        tree: Joints.
        bodies: Bodies.
        pairs: Pairs.
        R_joint: Rotations of joints in the posture looked at, shape (m, 3, 3).
        p_joint: Their origins, shape (m, 3), [m].
        R_body: Rotations of bodies there, shape (b, 3, 3).
        p_body: Their origins, shape (b, 3), [m].
        distance: Of each pair at the last command, shape (k,), [m]; a lower bound
            where there is more room than ``change`` uses up.
        change: How much ``travel`` can change each of them at most, shape (k,), [m].
        pace: How much the period looked at can, shape (k,), [m].
        behind: Of each pair on the way from where the robot is to the last command,
            shape (k,), [m].
        astray: How much that way can change it at most, shape (k,), [m].
        floor: How near it may come on that way during a stop, shape (k,), [m].
        apart: How far apart it is at least at the command looked at, shape (k,), [m].
        room: How much nearer it may come from there, and on the way back to the robot,
            shape (k,), [m].
        open: Pairs that a verification still has to look at, shape (k,).
        rows: Gradients of the distance of the pairs that matter, shape (k, n).
        allowed: How fast each of them may close, shape (k,), [m/s].
        normal: Unit vector along which each pair was apart when measured last; any at
            first, shape (k, 3).
        witness: Witness points and normal of the pair looked at last, shape (9,).
        posture: The posture looked at, shape (n,).
        travel: How far each joint goes, shape (n,), [rad] or [m].
        gap: From the last command to where the robot is, shape (n,), [rad] or [m].
        lag: The same from the command looked at, at most, shape (n,).
        aside: The posture looked at between the two, shape (n,).
        work: Bodies placed and pairs looked at in this period, shape (1,).
    """

    tree: Tree
    bodies: Bodies
    pairs: Pairs
    R_joint: Vec
    p_joint: Vec
    R_body: Vec
    p_body: Vec
    distance: Vec
    change: Vec
    pace: Vec
    behind: Vec
    astray: Vec
    floor: Vec
    apart: Vec
    room: Vec
    open: Ints
    rows: Vec
    allowed: Vec
    normal: Vec
    witness: Vec
    posture: Vec
    travel: Vec
    gap: Vec
    lag: Vec
    aside: Vec
    work: Vec


@compiled
def look_at(scene: Scene, q: Vec) -> None:
    """Place every joint and body in posture q, shape (n,)."""
    scene.work[0] += len(scene.bodies.joint)
    place_joints(scene.tree, q, scene.R_joint, scene.p_joint)
    place_bodies(scene.bodies, scene.R_joint, scene.p_joint, scene.R_body, scene.p_body)


@compiled
def measure(bodies: Bodies, a: int, b: int, R: Vec, p: Vec, witness: Vec) -> float:
    """Return the distance of two bodies, compiled once: ``measure_pair`` is inlined."""
    return measure_pair(bodies, a, b, R, p, witness)


@inlined
def find_pad(astray: float) -> float:
    """Return how much more a pair keeps between the last command and the robot, [m].

    Joints are not all behind by the same share: what is as far beside the postures
    looked at as a part is long is meant, too.

    Args:
        astray: How much the way between them can change its distance at most, [m].
    """
    return float(astray / N_PARTS)


@compiled
def sweep_all(reach: Vec, travel: Vec, change: Vec) -> None:
    """Write how much the distance of each pair can change at most.

    Joint by joint, for many pairs at once: that is faster than for a few by themselves.

    Args:
        reach: Of all pairs, shape (n, k), [m/rad] or [m/m].
        travel: How far each joint goes, shape (n,), [rad] or [m].
        change: Takes it, shape (k,), [m].
    """
    change[:] = 0.0
    for i in range(len(travel)):
        row, way = reach[i], travel[i]
        if way != 0.0:
            for k in range(len(change)):
                change[k] += row[k] * way


@inlined
def measure_all(scene: Scene, c: Vec) -> float:
    """Measure every pair at the last command, exactly where the next period matters.

    Args:
        scene: Takes ``distance``, ``change`` and ``normal``; ``travel`` holds how far
            each joint could go until it has stopped.
        c: Last command, shape (n,), [rad].

    Returns:
        The smallest distance, exact, [m]; +inf without pairs.
    """
    look_at(scene, c)
    bodies, R, p, witness = scene.bodies, scene.R_body, scene.p_body, scene.witness
    pairs, distance, change = scene.pairs, scene.distance, scene.change
    one, two = pairs.a, pairs.b
    sweep_all(pairs.reach, scene.travel, change)
    nearest, least = -1, math.inf
    for k in range(len(one)):
        distance[k] = bound_pair(bodies, one[k], two[k], R, p)
        scene.behind[k] = math.inf
        if distance[k] < least:
            nearest, least = k, distance[k]
    if nearest < 0:
        return math.inf
    least = measure(bodies, one[nearest], two[nearest], R, p, witness)
    distance[nearest], scene.normal[nearest] = least, witness[6:]
    for k in range(len(one)):
        far = max(least, pairs.keep[k] + _AIM + change[k])
        if distance[k] >= far or k == nearest:
            continue
        along = bound_along(bodies, one[k], two[k], R, p, scene.normal[k])
        distance[k] = max(distance[k], along)
        if distance[k] < far:
            distance[k] = measure(bodies, one[k], two[k], R, p, witness)
            scene.normal[k] = witness[6:]
            least = min(least, distance[k])
    return least


@compiled
def measure_behind(scene: Scene, c: Vec, q_meas: Vec) -> float:
    """Measure the pairs on the way from where the robot is to the last command (C1).

    The way is looked at where the robot is, and half-way. Leaves the scene in the
    posture c.

    Args:
        scene: Takes ``gap``, ``astray`` and ``behind``.
        c: Last command, shape (n,), [rad].
        q_meas: Measured positions, shape (n,), [rad].

    Returns:
        The smallest distance on it, [m].
    """
    n_open = 0
    least = math.inf
    bodies, R, p, witness = scene.bodies, scene.R_body, scene.p_body, scene.witness
    pairs, behind, posture = scene.pairs, scene.behind, scene.posture
    one, two, astray = pairs.a, pairs.b, scene.astray
    for i in range(len(c)):
        scene.gap[i] = q_meas[i] - c[i]
        posture[i] = abs(scene.gap[i])
    sweep_all(pairs.reach, posture, astray)
    for k in range(len(one)):
        room = scene.distance[k] - pairs.keep[k] - _AIM
        if astray[k] > 0.0 and room - astray[k] < scene.change[k]:
            scene.open[n_open] = k
            n_open += 1
    if n_open == 0:
        return math.inf
    for share in (0.5, 1.0):
        for i in range(len(c)):
            posture[i] = c[i] + share * scene.gap[i]
        look_at(scene, posture)
        for place in range(n_open):
            k = scene.open[place]
            behind[k] = min(behind[k], measure(bodies, one[k], two[k], R, p, witness))
            least = min(least, behind[k])
    look_at(scene, c)
    return least


@inlined
def fill_rows(
    scene: Scene, limits: Limits, h: float, box: Box, v: Vec
) -> tuple[int, int]:
    """Write the rows that some velocity of the box would break.

    Args:
        scene: Takes ``rows`` and ``allowed``; ``distance`` and ``behind`` are measured.
        limits: Gives the accelerations.
        h: Period, [s].
        box: What each joint may do, and wants.
        v: The velocity to judge, shape (n,), [rad/s].

    Returns:
        Number of rows, and whether ``v`` breaks any: ``IS_FREE`` if none; ``IS_WIDE``
        if those that it breaks leave room, so that the verification may tell that it
        passes by; else ``IS_CLOSE``.
    """
    n_rows, state = 0, IS_FREE
    bodies, R, p, witness = scene.bodies, scene.R_body, scene.p_body, scene.witness
    pairs, distance, behind = scene.pairs, scene.distance, scene.behind
    one, two = pairs.a, pairs.b
    for k in range(len(one)):
        room = min(distance[k], behind[k]) - pairs.keep[k] - _AIM
        room = max(room - find_pad(scene.astray[k]), min(room, 0.0))
        if room >= scene.change[k]:
            continue
        row = scene.rows[n_rows]
        measure(bodies, one[k], two[k], R, p, witness)
        _fill_gradient(scene, k, row)
        allowed = _find_allowed(limits, h, box, row, room)
        closing, fastest = 0.0, 0.0
        for i in range(len(v)):
            closing -= row[i] * v[i]
            fastest += max(-row[i] * box.low[i], -row[i] * box.high[i])
        if fastest > allowed:
            scene.allowed[n_rows] = allowed
            n_rows += 1
            if closing > allowed + _ROUNDING:
                is_wide = room > 0.0 and behind[k] >= distance[k]
                state = max(state, IS_WIDE if is_wide else IS_CLOSE)
    return n_rows, state


@inlined
def _fill_gradient(scene: Scene, k: int, row: Vec) -> None:
    """Write ∂d/∂q of the pair measured last, from its witness points and normal."""
    tree, R, p, w = scene.tree, scene.R_joint, scene.p_joint, scene.witness
    row[:] = 0.0
    for side in range(2):
        body = scene.pairs.b[k] if side else scene.pairs.a[k]
        sign, point = (1.0 if side else -1.0), w[3 * side : 3 * side + 3]
        i = scene.bodies.joint[body]
        while i >= 0:
            slope = _find_slope(
                R[i], p[i], tree.axis[i], tree.is_prismatic[i], point, w
            )
            row[tree.column[i]] += sign * tree.scale[i] * slope
            i = tree.parent[i]


@inlined
def _find_slope(
    R: Vec, p: Vec, axis: Vec, is_prismatic: int, point: Vec, witness: Vec
) -> float:
    """Return how fast a point moves along the witness' normal with a joint."""
    u, v, w = witness[6], witness[7], witness[8]
    x = R[0, 0] * axis[0] + R[0, 1] * axis[1] + R[0, 2] * axis[2]
    y = R[1, 0] * axis[0] + R[1, 1] * axis[1] + R[1, 2] * axis[2]
    z = R[2, 0] * axis[0] + R[2, 1] * axis[1] + R[2, 2] * axis[2]
    if is_prismatic:
        return float(x * u + y * v + z * w)
    rx, ry, rz = point[0] - p[0], point[1] - p[1], point[2] - p[2]
    turn = (y * rz - z * ry, z * rx - x * rz, x * ry - y * rx)
    return float(turn[0] * u + turn[1] * v + turn[2] * w)


@inlined
def _find_allowed(limits: Limits, h: float, box: Box, row: Vec, room: float) -> float:
    """Return how fast a pair may close, [m/s]; negative: it has to open.

    Joints that close by c_i = −g_i v_i each need v_i/A_i to stop, so together they
    brake like (Σ c_i)² / Σ (c_i |v_i| / A_i).
    """
    closing, need, power, moving = 0.0, 0.0, 0.0, 0.0
    for i in range(len(row)):
        u = min(max(box.wanted[i], box.low[i]), box.high[i])
        c = -row[i] * u
        power += abs(row[i]) * limits.ddq_max[i]
        moving += abs(row[i] * box.wanted[i])
        if c > 0.0:
            closing += c
            need += c * abs(u) / limits.ddq_max[i]
    if room < 0.0:
        # back to the distance aimed at, but no faster than the arm is asked to move
        return -min(-room * _OUTWARD / h, _OUTWARD * moving)
    if need > 0.0:
        power = closing * closing / need
    if power <= 0.0:
        return math.inf
    return compute_stopping_speed(room, _CURVED * power, h)
