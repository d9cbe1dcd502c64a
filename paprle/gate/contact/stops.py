"""Verified stops (V2): the next period and braking after it keep every pair apart.

Conservative advancement; postures between q_meas and the command are checked, too.
"""

from __future__ import annotations

import math

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.gate.contact.clearance import (
    N_PARTS,
    compute_lag_padding,
    find_returning,
    measure,
)
from paprle.gate.contact.scene import (
    PAIR,
    UNDECIDED,
    Collision,
    place_bodies_at,
    refuse,
)
from paprle.gate.limits import ROUNDING
from paprle.robot.arrays import Ints, bound_change
from paprle.robot.bodies.distance import bound_along, bound_pair
from paprle.robot.braking import compute_stopping_distance

_MAX_UNSEEN_CHANGE = 3e-4  # [m] chosen: lost between two checks; 5e-4 are allowed
_MAX_QUERIES = 10000.0  # chosen: bodies placed, pairs checked in a period: about 1 ms
_EXACT = 10.0  # chosen: a distance counts as that many bounds
_SOON = 3.0  # chosen: of the way to a check, what is due that soon after it joins it


@compiled
def verify_stop(collision: Collision, ddq_max: Vec, h: float, c: Vec, v: Vec) -> bool:
    """Return whether the next period at v and braking by ``ddq_max`` keep pairs apart.

    A pair already too near may come no nearer; undecided in time is False.
    """
    end, t = 1.0, 0.0
    for i in range(len(v)):
        if not math.isfinite(v[i]):
            refuse(collision, UNDECIDED, 0)
            return False
        end = max(end, 1.0 + math.ceil(abs(v[i]) / (ddq_max[i] * h)))
    scene, measured, scratch = collision.scene, collision.measured, collision.scratch
    n_queries, posture = measured.n_queries, scratch.posture
    _bound_travel(collision, ddq_max, h, v, t)
    limit = 0.5 * (n_queries[0] + _MAX_QUERIES)  # the rest is for a slower one
    n_pending = _find_pending(collision, c, v)
    while n_pending > 0 and t < end:
        if n_queries[0] > limit:
            refuse(collision, UNDECIDED, 0)
            return False
        t, n_due = _choose_next(scratch.pending, scratch.due, n_pending, t, end)
        for i in range(len(v)):
            posture[i] = find_place(c[i], v[i], ddq_max[i], h, t)
            scratch.q_lag_max[i] = _find_lag(measured.q_lag[i], posture[i] - c[i])
        place_bodies_at(scene, posture, scratch.placed, n_queries)
        _bound_travel(collision, ddq_max, h, v, t)
        n_pending = _check_pending(collision, t, n_pending, n_due)
        if n_pending < 0:
            return False
    return True


@inlined
def _choose_next(
    pending: Ints, due: Vec, n_pending: int, t: float, end: float
) -> tuple[float, int]:
    # Those are the ones that are due by then, or soon: placing the bodies once more
    # costs as much as checking many pairs.
    first, n_due = end, 0
    for place in range(n_pending):
        first = min(first, due[pending[place]])
    soon = first + _SOON * (first - t)
    for place in range(n_pending):
        k = pending[place]
        if due[k] <= soon or first == end:
            pending[place], pending[n_due] = pending[n_due], k
            n_due += 1
    return first, n_due


@inlined
def _find_pending(collision: Collision, c: Vec, v: Vec) -> int:
    # Between the last command and the robot that is its clearance and the padding for
    # the lag; or as near as it is. Of a pair whose command only comes back to the robot
    # the command alone is checked.
    measured, scratch = collision.measured, collision.scratch
    n_pending, pairs = 0, collision.scene.pairs
    for place in range(measured.n_near[0]):
        k = measured.near[place]
        change, slack = (
            measured.max_change_to_meas[k],
            measured.distance[k] - pairs.keep[k],
        )
        padding = compute_lag_padding(change)
        _bound_changes(collision, k)
        if scratch.max_change[k] > max(slack - change - padding, 0.0):
            scratch.pending[n_pending] = k
            scratch.min_allowed[k] = pairs.keep[k] + padding
            i = find_returning(pairs.reach, k, measured.q_lag, v)
            if i >= 0 and scratch.travel[i] <= abs(measured.q_lag[i]):
                scratch.min_allowed[k] = -math.inf
            scratch.distance_lower_bound[k] = measured.distance[k]
            scratch.slack[k] = slack
            n_pending += 1
    _check_to_meas(collision, c, measured.q_lag, n_pending, True)
    for place in range(n_pending):
        k = scratch.pending[place]
        scratch.due[k] = _find_unchecked_time(collision, k, 0.0)
    return n_pending


@inlined
def _find_lag(gap: float, way: float) -> float:
    # A command that comes back to where the robot is leaves it behind by less.
    if gap * way <= 0.0:
        return gap
    return math.copysign(max(abs(gap) - abs(way), 0.0), gap)


@compiled
def find_place(c: float, v: float, ddq_max: float, h: float, t: float) -> float:
    """Return a joint's position after t periods: one at v, then braking."""
    whole = math.floor(t)
    speed = abs(v)
    way = (t - whole) * h * max(speed - whole * ddq_max * h, 0.0)
    if whole > 0.0:
        n = min(whole - 1.0, float(math.floor(speed / (ddq_max * h))))
        way += speed * h + n * speed * h - ddq_max * h * h * n * (n + 1.0) / 2.0
    return c + math.copysign(way, v)


@inlined
def _bound_changes(collision: Collision, k: int) -> None:
    scratch, reach = collision.scratch, collision.scene.pairs.reach
    scratch.max_change_period[k] = bound_change(reach, k, scratch.sync_stop_distance)
    scratch.max_change[k] = bound_change(reach, k, scratch.travel)


@inlined
def _bound_travel(
    collision: Collision, ddq_max: Vec, h: float, v: Vec, t: float
) -> None:
    scratch, whole = collision.scratch, math.floor(t)
    for i in range(len(v)):
        speed = max(abs(v[i]) - whole * ddq_max[i] * h, 0.0)
        rest = compute_stopping_distance(speed, ddq_max[i], h)
        scratch.sync_stop_distance[i] = h * speed
        scratch.travel[i] = (1.0 + whole - t) * speed * h + rest


@compiled
def _check_pending(collision: Collision, t: float, n_pending: int, n_due: int) -> int:
    """Measure due pairs in ``scratch.posture``; return how many stay, −1: too near."""
    scene, measured, scratch = collision.scene, collision.measured, collision.scratch
    bodies, pairs, placed = scene.bodies, scene.pairs, scratch.placed
    R, p = placed.R_body, placed.p_body
    measured.n_queries[0] += n_due
    for place in range(n_due):
        k = scratch.pending[place]
        _bound_changes(collision, k)
        min_allowed = min(pairs.keep[k], measured.distance[k])
        change = measured.max_change_to_meas[k]
        need = scratch.max_change[k] + change + compute_lag_padding(change)
        slack = bound_pair(bodies, pairs.a[k], pairs.b[k], R, p) - min_allowed
        if slack < min(need, _find_step(min_allowed)):
            slack = _measure_slack(collision, k, min_allowed, slack)
        if slack < -ROUNDING:
            refuse(collision, PAIR, k)
            return -1
        scratch.slack[k], scratch.distance_lower_bound[k] = slack, slack + min_allowed
    if not _check_to_meas(collision, scratch.posture, scratch.q_lag_max, n_due, False):
        return -1
    still = 0
    for place in range(n_pending):
        k = scratch.pending[place]
        if place < n_due:
            if scratch.max_change[k] <= max(scratch.slack[k], 0.0):
                continue
            scratch.due[k] = t + _find_unchecked_time(collision, k, t)
        scratch.pending[still] = k
        still += 1
    return still


@compiled
def _measure_slack(
    collision: Collision, k: int, min_allowed: float, slack: float
) -> float:
    placed, normals = collision.scratch.placed, collision.measured.normal
    bodies, pairs, witness = (
        collision.scene.bodies,
        collision.scene.pairs,
        collision.scratch.witness,
    )
    R, p, a, b = placed.R_body, placed.p_body, pairs.a[k], pairs.b[k]
    slack = max(slack, bound_along(bodies, a, b, R, p, normals[k]) - min_allowed)
    if slack < 0.0:
        collision.measured.n_queries[0] += _EXACT
        slack = measure(bodies, a, b, R, p, witness) - min_allowed
        for i in range(3):
            normals[k, i] = witness[6 + i]
    return slack


@compiled
def _check_to_meas(
    collision: Collision, q: Vec, q_lag: Vec, n_pending: int, is_first: bool
) -> bool:
    # The end of each part of the way stands for all of it (``compute_lag_padding``).
    scene, measured, scratch = collision.scene, collision.measured, collision.scratch
    bodies, pairs, placed = scene.bodies, scene.pairs, scratch.placed
    R, p, q_between = placed.R_body, placed.p_body, scratch.q_between
    for part in range(N_PARTS):
        share, is_placed = (part + 1.0) / N_PARTS, False
        for place in range(n_pending):
            k = scratch.pending[place]
            min_allowed, change = scratch.min_allowed[k], measured.max_change_to_meas[k]
            left = scratch.distance_lower_bound[k] - share * change - min_allowed
            if change == 0.0 or left >= scratch.max_change[k]:
                continue
            if not is_placed:
                for i in range(len(q)):
                    q_between[i] = q[i] + share * q_lag[i]
                place_bodies_at(scene, q_between, placed, measured.n_queries)
                is_placed = True
            measured.n_queries[0] += 1.0
            slack = bound_pair(bodies, pairs.a[k], pairs.b[k], R, p) - min_allowed
            if slack < min(scratch.max_change[k], _find_step(min_allowed)):
                slack = _measure_slack(collision, k, min_allowed, slack)
            if is_first and slack < 0.0:
                scratch.min_allowed[k], slack = min_allowed + slack, 0.0
            if slack < -ROUNDING:
                refuse(collision, PAIR, k)
                return False
            scratch.slack[k] = min(scratch.slack[k], slack)
    return True


@inlined
def _find_unchecked_time(collision: Collision, k: int, t: float) -> float:
    measured, scratch, ahead = collision.measured, collision.scratch, math.inf
    keep, distance = collision.scene.pairs.keep[k], measured.distance[k]
    is_lagging = measured.max_change_to_meas[k] > 0.0
    if distance < keep or (is_lagging and scratch.min_allowed[k] < keep):
        # every sample, or it could come nearer period by period
        ahead = 1.0 + math.floor(t) - t
    allowed = max(scratch.slack[k], 0.0) + _find_step(min(keep, distance))
    if allowed < scratch.max_change[k]:
        ahead = min(ahead, allowed / scratch.max_change_period[k])
    return ahead


@inlined
def _find_step(distance: float) -> float:
    """Return the longest way between checks, [m]; it hides way²/(8 distance)."""
    # d apart at both ends of a way s, they come s²/(8 d) nearer in between. A body that
    # comes from farther away has used up the slack it had before that begins.
    return math.sqrt(8.0 * _MAX_UNSEEN_CHANGE * max(distance, _MAX_UNSEEN_CHANGE))
