"""Clearance (C1): distances of bodies, and rows ḋ = g·v that bound closing speeds."""

from __future__ import annotations

import math

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.gate.contact.broad_phase import bound_block, fill_balls
from paprle.gate.contact.scene import Collision, Placed, Scene, place_bodies_at
from paprle.gate.limits import ROUNDING, Box, Limits
from paprle.robot.arrays import Bodies, ReachTable, bound_change
from paprle.robot.bodies.distance import bound_along, bound_pair, measure_pair
from paprle.robot.braking import compute_stopping_speed

_AIM = 1e-3  # [m] chosen: rows keep this much more, for what linearising loses
_CURVED = 0.8  # chosen: share of the braking power that rows count on
_OUTWARD = 0.05  # chosen: share of what is missing that a period makes up, if moving
# [m/s²] chosen: a pair that A moves by less keeps its distance: of a body that turns on
# its own axis all is rounding, and has no direction to be held in
_STILL = 1e-4
N_PARTS = 4  # chosen: of the way from command to q_meas; the end of each is checked
IS_FREE, IS_WIDE, IS_CLOSE = range(3)


@compiled
def measure(bodies: Bodies, a: int, b: int, R: Vec, p: Vec, witness: Vec) -> float:
    """Return the distance of two bodies, compiled once."""
    return measure_pair(bodies, a, b, R, p, witness)


@inlined
def compute_lag_padding(max_change_to_meas: float) -> float:
    """Return the padding for a change of distance by lag, [m]."""
    return float(max_change_to_meas / N_PARTS)


@inlined
def find_returning(reach: ReachTable, k: int, q_lag: Vec, v: Vec) -> int:
    """Return the only joint of pair k if its command returns to the robot, else −1.

    ``q_lag``, shape (n,), leads from command to robot; v is the command's velocity.
    """
    first = reach.starts[k]
    if reach.starts[k + 1] - first != 1:
        return -1
    i = int(reach.column[first])
    return i if q_lag[i] * v[i] > 0.0 else -1


@inlined
def measure_all(
    collision: Collision, c: Vec, travel: Vec, sync_stop_distance: Vec
) -> float:
    """Measure pairs at the last command, exactly where needed.

    ``travel`` is the way to a stop, ``sync_stop_distance`` to a common rest, (n,),
    [rad].

    Returns:
        The exact smallest distance, [m]; +inf without pairs.
    """
    scene, measured = collision.scene, collision.measured
    place_bodies_at(scene, c, measured.at_command, measured.n_queries)
    for i in range(len(c)):
        collision.scratch.q_lag_max[i] = abs(measured.q_lag[i])
    fill_balls(collision.blocks, scene.bodies, measured.at_command.p_body)
    return _measure_seen(collision, _find_near(collision, travel, sync_stop_distance))


@inlined
def _find_near(collision: Collision, travel: Vec, sync_stop_distance: Vec) -> int:
    scene, blocks, measured = collision.scene, collision.blocks, collision.measured
    bodies, pairs, placed = scene.bodies, scene.pairs, measured.at_command
    one, two, keep = pairs.a, pairs.b, pairs.keep
    starts, is_seen = blocks.starts, blocks.is_seen
    max_change = measured.max_change
    R, p, lag = placed.R_body, placed.p_body, collision.scratch.q_lag_max
    distance, nearest, least, n_near = measured.distance, -1, math.inf, 0
    for g in range(len(blocks.one)):
        far = _AIM + _bound_use(blocks.reach, g, sync_stop_distance, lag)
        is_seen[g] = bound_block(blocks, g) < blocks.keep[g] + far
        if not is_seen[g]:
            continue
        for k in range(starts[g], starts[g + 1]):
            distance[k] = bound_pair(bodies, one[k], two[k], R, p)
            max_change[k] = 0.0
            if distance[k] < least:
                nearest, least = k, distance[k]
            if distance[k] < keep[k] + far:
                measured.near[n_near] = k
                n_near += 1
                measured.max_change[k] = bound_change(pairs.reach, k, travel)
                measured.max_change_to_meas[k] = bound_change(pairs.reach, k, lag)
                measured.distance_to_meas[k] = math.inf
    measured.n_near[0] = n_near
    return nearest


@inlined
def _bound_use(reach: ReachTable, g: int, travel: Vec, lag: Vec) -> float:
    change = bound_change(reach, g, lag)
    return float(bound_change(reach, g, travel) + change + compute_lag_padding(change))


@inlined
def _measure_seen(collision: Collision, nearest: int) -> float:
    blocks, measured, least = collision.blocks, collision.measured, math.inf
    pairs, distance = collision.scene.pairs, measured.distance
    is_seen, starts, keep = blocks.is_seen, blocks.starts, pairs.keep
    max_change = measured.max_change
    if nearest >= 0:
        least = _measure_now(collision, nearest)
    for g in range(len(blocks.one)):
        if not is_seen[g] and bound_block(blocks, g) >= least:
            continue
        for k in range(starts[g], starts[g + 1]):
            if not is_seen[g]:
                distance[k], max_change[k] = -math.inf, 0.0
            far = max(least, keep[k] + _AIM + max_change[k])
            if distance[k] < far and k != nearest:
                least = min(least, _find_distance(collision, k, far))
    return least


@inlined
def _find_distance(collision: Collision, k: int, far: float) -> float:
    bodies, pairs, measured = (
        collision.scene.bodies,
        collision.scene.pairs,
        collision.measured,
    )
    R, p, a, b = (
        measured.at_command.R_body,
        measured.at_command.p_body,
        pairs.a[k],
        pairs.b[k],
    )
    distance = max(measured.distance[k], bound_pair(bodies, a, b, R, p))
    distance = max(distance, bound_along(bodies, a, b, R, p, measured.normal[k]))
    measured.distance[k] = distance
    return distance if distance >= far else _measure_now(collision, k)


@inlined
def _measure_now(collision: Collision, k: int) -> float:
    measured, pairs = collision.measured, collision.scene.pairs
    placed, witness = measured.at_command, collision.scratch.witness
    bodies, a, b = collision.scene.bodies, pairs.a[k], pairs.b[k]
    distance = measure(bodies, a, b, placed.R_body, placed.p_body, witness)
    measured.distance[k] = distance
    for i in range(3):
        measured.normal[k, i] = witness[6 + i]
    return float(distance)


@compiled
def measure_to_measured(collision: Collision, c: Vec) -> float:
    """Return the smallest distance from the last command c to q_meas, [m] (C1)."""
    n_pending, least = 0, math.inf
    scene, measured, scratch = collision.scene, collision.measured, collision.scratch
    bodies, pairs, placed = scene.bodies, scene.pairs, scratch.placed
    R, p, witness = placed.R_body, placed.p_body, scratch.witness
    one, two, nearest = pairs.a, pairs.b, measured.distance_to_meas
    change, posture = measured.max_change_to_meas, scratch.posture
    for place in range(measured.n_near[0]):
        k = measured.near[place]
        slack = measured.distance[k] - pairs.keep[k] - _AIM
        if change[k] > 0.0 and slack - change[k] < measured.max_change[k]:
            scratch.pending[n_pending] = k
            n_pending += 1
    if n_pending == 0:
        return math.inf
    for share in (0.5, 1.0):
        for i in range(len(c)):
            posture[i] = c[i] + share * measured.q_lag[i]
        place_bodies_at(scene, posture, placed, measured.n_queries)
        for place in range(n_pending):
            k = scratch.pending[place]
            distance = measure(bodies, one[k], two[k], R, p, witness)
            nearest[k] = min(nearest[k], distance)
            least = min(least, nearest[k])
    measured.n_queries[0] += len(bodies.joint)  # measuring counts as placing once more
    return least


@inlined
def fill_rows(
    collision: Collision, limits: Limits, h: float, box: Box, v: Vec
) -> tuple[int, int]:
    """Write the rows that some velocity of the box would break.

    Returns:
        Number of rows; and ``IS_FREE`` if ``v``, (n,), breaks none, ``IS_WIDE`` if the
        broken ones leave slack, else ``IS_CLOSE``.
    """
    n_rows, state = 0, IS_FREE
    scene, measured, witness = (
        collision.scene,
        collision.measured,
        collision.scratch.witness,
    )
    bodies, pairs, placed = scene.bodies, scene.pairs, measured.at_command
    distance, to_meas = measured.distance, measured.distance_to_meas
    one, two, R, p = pairs.a, pairs.b, placed.R_body, placed.p_body
    for place in range(measured.n_near[0]):
        k = measured.near[place]
        keep, change = pairs.keep[k] + _AIM, measured.max_change_to_meas[k]
        slack = min(distance[k], to_meas[k]) - keep
        if slack - change >= measured.max_change[k]:
            continue
        row = measured.rows[n_rows]
        exact = measure(bodies, one[k], two[k], R, p, witness)
        fill_gradient(scene, placed, k, witness, row)
        slack = max(slack - compute_lag_padding(change), min(slack, 0.0))
        closing_lag = _compute_closing_lag(row, measured.q_lag)
        if find_returning(pairs.reach, k, measured.q_lag, box.dq_goal) >= 0:
            slack, closing_lag = distance[k] - keep, 0.0
        allowed = _find_allowed(limits, h, box, row, slack)
        matters, is_broken = _judge_row(row, allowed, box, v)
        if is_broken:
            is_wide = slack > 0.0 and to_meas[k] >= distance[k]
            state = max(state, IS_WIDE if is_wide else IS_CLOSE)
        if matters:
            measured.allowed[n_rows], measured.waits[n_rows] = allowed, 0.0
            measured.pair[n_rows] = k
            n_rows += 1
        if closing_lag <= 0.0:
            continue
        waiting = measured.rows[n_rows]
        _leave_out_lagging(row, measured.q_lag, waiting)
        anywhere = max(exact - keep - closing_lag, 0.0)
        allowed = _find_allowed(limits, h, box, waiting, anywhere)
        matters, is_broken = _judge_row(waiting, allowed, box, v)
        if is_broken:
            state = IS_CLOSE
        if matters:
            measured.allowed[n_rows], measured.waits[n_rows] = allowed, 1.0
            measured.pair[n_rows] = k
            n_rows += 1
    return n_rows, state


@inlined
def _judge_row(row: Vec, allowed: float, box: Box, v: Vec) -> tuple[bool, bool]:
    closing, fastest = 0.0, 0.0
    for i in range(len(v)):
        closing -= row[i] * v[i]
        fastest += max(-row[i] * box.low[i], -row[i] * box.high[i])
    return fastest > allowed, fastest > allowed and closing > allowed + ROUNDING


@inlined
def _compute_closing_lag(row: Vec, q_lag: Vec) -> float:
    # Each joint may be anywhere between the robot and the command: what closes the pair
    # may arrive before what opens it.
    closing = 0.0
    for i in range(len(row)):
        closing += max(-row[i] * q_lag[i], 0.0)
    return closing


@inlined
def _leave_out_lagging(row: Vec, q_lag: Vec, waiting: Vec) -> None:
    # However far their commands go, the robot is where it was.
    for i in range(len(row)):
        waiting[i] = 0.0 if row[i] * q_lag[i] < 0.0 else row[i]


@inlined
def fill_gradient(scene: Scene, placed: Placed, k: int, witness: Vec, row: Vec) -> None:
    """Write ∂d/∂q of a pair from its witness."""
    tree, R, p = scene.tree, placed.R_joint, placed.p_joint
    row[:] = 0.0
    for side in range(2):
        body = scene.pairs.b[k] if side else scene.pairs.a[k]
        sign, point = (1.0 if side else -1.0), witness[3 * side : 3 * side + 3]
        i = scene.bodies.joint[body]
        while i >= 0:
            slope = _find_slope(
                R[i], p[i], tree.axis[i], tree.is_prismatic[i], point, witness
            )
            row[tree.column[i]] += sign * tree.scale[i] * slope
            i = tree.parent[i]


@inlined
def _find_slope(
    R: Vec, p: Vec, axis: Vec, is_prismatic: int, point: Vec, witness: Vec
) -> float:
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
def _find_allowed(limits: Limits, h: float, box: Box, row: Vec, slack: float) -> float:
    """Return the closing speed allowed, [m/s]; below 0 the pair has to open."""
    # Joints that close by c_i = −g_i v_i each need v_i/A_i to stop, so together they
    # brake like (Σ c_i)² / Σ (c_i |v_i| / A_i).
    closing, need, power, moving = 0.0, 0.0, 0.0, 0.0
    for i in range(len(row)):
        u = min(max(box.dq_goal[i], box.low[i]), box.high[i])
        c = -row[i] * u
        power += abs(row[i]) * limits.ddq_max[i]
        moving += abs(row[i] * box.dq_goal[i])
        if c > 0.0:
            closing += c
            need += c * abs(u) / limits.ddq_max[i]
    if power <= _STILL:
        return math.inf
    if slack < 0.0:
        # back to the distance aimed at, but no faster than the arm is asked to move
        return -min(-slack * _OUTWARD / h, _OUTWARD * moving)
    if need > 0.0:
        power = closing * closing / need
    return compute_stopping_speed(slack, _CURVED * power, h)
