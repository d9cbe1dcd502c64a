"""Stops that are verified (V2): what braking would sweep keeps every pair apart.

A command may leave only if it and the braking that would follow it keep clear, at every
moment between samples, too: joints go evenly from one command to the next. It is looked
at by conservative advancement: a pair that has d more than it is to keep needs no look
before the joints moved enough to use d up, each by its ``reach``, and then passes by.
Braking is always a next step that was verified before, so there is always an answer.
"""

from __future__ import annotations

import math

from paprle.compiled import compiled, inlined
from paprle.gate.clearance import Scene, look_at, measure, sweep, sweep_all
from paprle.gate.limits import Limits
from paprle.robot.braking import compute_stopping_distance
from paprle.robot.distance import bound_along, bound_pair
from paprle.types import Vec

_SAG = 3e-4  # [m] chosen: what may be lost between two looks; 5e-4 are allowed
_MAX_LOOKS = 60  # chosen: a stop that needs more is refused
_ROUNDING = 1e-9  # chosen: far above rounding, far below anything that moves


@compiled
def verify_stop(scene: Scene, limits: Limits, h: float, c: Vec, v: Vec) -> bool:
    """Tell whether the next period at v, and braking after it, keep all pairs apart.

    A pair that is nearer than it should be already may not come any nearer.

    Args:
        scene: ``distance`` is measured at c.
        limits: Gives the accelerations.
        h: Period, [s].
        c: Last command, shape (n,), [rad].
        v: Velocity of the next, shape (n,), [rad/s].

    Returns:
        Whether they do; false, too, where that cannot be told in time.
    """
    end, n_open, ahead = 1.0, 0, math.inf
    pairs, change = scene.pairs, scene.change
    for i in range(len(v)):
        end = max(end, 1.0 + math.ceil(abs(v[i]) / (limits.ddq_max[i] * h)))
    _find_travel(scene, limits, h, v, 0.0)
    sweep_all(pairs.reach, scene.travel, change)
    for k in range(len(pairs.a)):
        room = scene.distance[k] - pairs.keep[k]
        if change[k] > max(room, 0.0):
            scene.open[n_open] = k
            n_open += 1
            ahead = min(ahead, _find_ahead(scene, k, room, change[k], 0.0))
    t = 0.0
    for _ in range(_MAX_LOOKS):
        if n_open == 0 or t >= end:
            return True
        t = min(t + ahead, end)
        for i in range(len(v)):
            scene.posture[i] = find_place(c[i], v[i], limits.ddq_max[i], h, t)
        look_at(scene, scene.posture)
        _find_travel(scene, limits, h, v, t)
        n_open, ahead = _look_ahead(scene, t, n_open)
        if n_open < 0:
            return False
    return False


@compiled
def find_place(c: float, v: float, ddq_max: float, h: float, t: float) -> float:
    """Return a joint's position after t periods: one at v, then braking.

    Args:
        c: Where it starts, [rad].
        v: Velocity of the first period, [rad/s].
        ddq_max: Acceleration limit A, [rad/s²].
        h: Period, [s].
        t: Periods; within one it goes evenly.
    """
    whole = math.floor(t)
    speed = abs(v)
    way = (t - whole) * h * max(speed - whole * ddq_max * h, 0.0)
    if whole > 0.0:
        n = min(whole - 1.0, float(math.floor(speed / (ddq_max * h))))
        way += speed * h + n * speed * h - ddq_max * h * h * n * (n + 1.0) / 2.0
    return c + math.copysign(way, v)


@compiled
def _find_travel(scene: Scene, limits: Limits, h: float, v: Vec, t: float) -> None:
    """Write how far each joint still goes after t periods, and in the period then."""
    whole = math.floor(t)
    for i in range(len(v)):
        A = limits.ddq_max[i]
        speed = max(abs(v[i]) - whole * A * h, 0.0)
        rest = compute_stopping_distance(speed, A, h)
        scene.pace[i] = speed * h
        scene.travel[i] = (1.0 + whole - t) * speed * h + rest


@compiled
def _look_ahead(scene: Scene, t: float, n_open: int) -> tuple[int, float]:
    """Measure the open pairs.

    Returns:
        How many stay open, −1 where one is too near; and the number of periods in which
        none of them needs a look.
    """
    bodies, R, p, witness = scene.bodies, scene.R_body, scene.p_body, scene.witness
    pairs = scene.pairs
    one, two, reach = pairs.a, pairs.b, pairs.reach
    still, ahead = 0, math.inf
    for place in range(n_open):
        k = scene.open[place]
        floor = min(pairs.keep[k], scene.distance[k])
        room = bound_pair(bodies, one[k], two[k], R, p) - floor
        need = sweep(reach, k, scene.travel)
        if room < min(need, _find_fine(floor)):
            along = bound_along(bodies, one[k], two[k], R, p, scene.normal[k])
            room = max(room, along - floor)
        if room < 0.0:
            room = measure(bodies, one[k], two[k], R, p, witness) - floor
            scene.normal[k] = witness[6:]
        if room < -_ROUNDING:
            return -1, ahead
        if need > max(room, 0.0):
            scene.open[still] = k
            still += 1
            ahead = min(ahead, _find_ahead(scene, k, room, need, t))
    return still, ahead


@compiled
def _find_ahead(scene: Scene, k: int, room: float, need: float, t: float) -> float:
    """Return for how many periods a pair needs no look.

    Args:
        scene: ``pace`` is that of the period now; later ones are slower.
        k: The pair.
        room: How much nearer it may come, [m].
        need: By how much the rest of the stop can change its distance, [m].
        t: Periods since the stop began.
    """
    keep, distance = scene.pairs.keep[k], scene.distance[k]
    ahead = math.inf
    if distance < keep:
        # every sample, or it could come nearer period by period
        ahead = 1.0 + math.floor(t) - t
    allowed = max(room, 0.0) + _find_fine(min(keep, distance))
    if allowed < need:
        ahead = min(ahead, allowed / sweep(scene.pairs.reach, k, scene.pace))
    return ahead


@inlined
def _find_fine(floor: float) -> float:
    """Return how far two bodies may pass by each other between two looks, [m].

    d apart at both ends of a way s, they come s²/(8 d) nearer in between. What comes
    from farther away has spent the room it had before that begins.
    """
    return math.sqrt(8.0 * _SAG * max(floor, _SAG))
