"""Stops that are verified (V2): what braking would sweep keeps every pair apart.

A command may leave only if it and the braking that would follow it keep clear, at every
moment between samples, too: joints go evenly from one command to the next. It is looked
at by conservative advancement: a pair that has d more than it is to keep needs no look
before the joints moved enough to use d up, each by its ``reach``, and then passes by.
Braking is always a next step that was verified before, so there is always an answer.

The robot lags behind its command. So all postures between are looked at, too, carried
along with the command: the stop from where the robot is, not only from the command.
What lies between and is too near already may come no nearer, and may leave.
"""

from __future__ import annotations

import math

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.gate.clearance import (
    N_PARTS,
    Scene,
    find_pad,
    look_at,
    measure,
    sweep_all,
)
from paprle.robot.braking import compute_stopping_distance
from paprle.robot.distance import bound_along, bound_pair

_SAG = 3e-4  # [m] chosen: what may be lost between two looks; 5e-4 are allowed
_MAX_WORK = 10000.0  # chosen: bodies and pairs looked at in a period, about 1 ms
_EXACT = 10.0  # chosen: a distance counts as that many bounds
_ROUNDING = 1e-9  # chosen: far above rounding, far below anything that moves


@compiled
def verify_stop(scene: Scene, ddq_max: Vec, h: float, c: Vec, v: Vec) -> bool:
    """Tell whether the next period at v, and braking after it, keep all pairs apart.

    A pair that is nearer than it should be already may not come any nearer.

    Args:
        scene: ``distance`` is measured at c.
        ddq_max: How hard each joint brakes, shape (n,), [rad/s²].
        h: Period, [s].
        c: Last command, shape (n,), [rad].
        v: Velocity of the next, shape (n,), [rad/s].

    Returns:
        Whether they do; false, too, where that cannot be told in time.
    """
    end, t = 1.0, 0.0
    for i in range(len(v)):
        if not math.isfinite(v[i]):
            return False
        end = max(end, 1.0 + math.ceil(abs(v[i]) / (ddq_max[i] * h)))
    _find_travel(scene, ddq_max, h, v, t)
    limit = 0.5 * (scene.work[0] + _MAX_WORK)  # the rest is for a slower one
    n_open, ahead = _open_pairs(scene, c)
    while n_open > 0 and t < end:
        if scene.work[0] > limit:
            return False
        t = min(t + ahead, end)
        for i in range(len(v)):
            place = find_place(c[i], v[i], ddq_max[i], h, t)
            scene.posture[i], scene.lag[i] = (
                place,
                _find_lag(scene.gap[i], place - c[i]),
            )
        look_at(scene, scene.posture)
        _find_travel(scene, ddq_max, h, v, t)
        n_open, ahead = _look_ahead(scene, t, n_open)
        if n_open < 0:
            return False
    return True


@inlined
def _open_pairs(scene: Scene, c: Vec) -> tuple[int, float]:
    """Note the pairs that a stop may bring too near, and how near each may come.

    Between the last command and the robot that is what it keeps and ``find_pad``; or
    as near as it is.

    Args:
        scene: ``change`` is that of the whole stop; takes ``open`` and ``floor``.
        c: Last command, shape (n,), [rad].

    Returns:
        How many there are, and the number of periods in which none needs a look.
    """
    n_open, pairs = 0, scene.pairs
    for k in range(len(pairs.a)):
        room, pad = scene.distance[k] - pairs.keep[k], find_pad(scene.astray[k])
        if scene.change[k] > max(room - scene.astray[k] - pad, 0.0):
            scene.open[n_open] = k
            scene.floor[k] = pairs.keep[k] + pad
            scene.apart[k], scene.room[k] = scene.distance[k], room
            n_open += 1
    scene.posture[:], scene.lag[:] = c, scene.gap
    _look_aside(scene, n_open, True)
    return n_open, _find_ahead(scene, n_open, 0.0)


@inlined
def _find_lag(gap: float, way: float) -> float:
    """Return how far a joint is behind at most once its command went a way.

    A command that comes back to where the robot is leaves it behind by less.
    """
    if gap * way <= 0.0:
        return gap
    return math.copysign(max(abs(gap) - abs(way), 0.0), gap)


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


@inlined
def _find_travel(scene: Scene, ddq_max: Vec, h: float, v: Vec, t: float) -> None:
    """Write how much the rest of a stop can change pairs, and the period now by itself.

    Args:
        scene: Takes ``change`` and ``pace``.
        ddq_max: How hard each joint brakes, shape (n,), [rad/s²].
        h: Period, [s].
        v: Velocity of the stop's first period, shape (n,), [rad/s].
        t: Periods since it began.
    """
    whole = math.floor(t)
    for i in range(len(v)):
        scene.travel[i] = h * max(abs(v[i]) - whole * ddq_max[i] * h, 0.0)
    sweep_all(scene.pairs.reach, scene.travel, scene.pace)
    for i in range(len(v)):
        speed = max(abs(v[i]) - whole * ddq_max[i] * h, 0.0)
        rest = compute_stopping_distance(speed, ddq_max[i], h)
        scene.travel[i] = (1.0 + whole - t) * speed * h + rest
    sweep_all(scene.pairs.reach, scene.travel, scene.change)


@compiled
def _look_ahead(scene: Scene, t: float, n_open: int) -> tuple[int, float]:
    """Measure the open pairs.

    Returns:
        How many stay open, −1 where one is too near; and the number of periods in which
        none of them needs a look.
    """
    bodies, R, p, pairs = scene.bodies, scene.R_body, scene.p_body, scene.pairs
    scene.work[0] += n_open
    for place in range(n_open):
        k = scene.open[place]
        floor = min(pairs.keep[k], scene.distance[k])
        need = scene.change[k] + scene.astray[k] + find_pad(scene.astray[k])
        room = bound_pair(bodies, pairs.a[k], pairs.b[k], R, p) - floor
        if room < min(need, _find_fine(floor)):
            room = _look_closer(scene, k, floor, room)
        if room < -_ROUNDING:
            return -1, math.inf
        scene.room[k], scene.apart[k] = room, room + floor
    if not _look_aside(scene, n_open, False):
        return -1, math.inf
    still = 0
    for place in range(n_open):
        k = scene.open[place]
        if scene.change[k] > max(scene.room[k], 0.0):
            scene.open[still] = k
            still += 1
    return still, _find_ahead(scene, still, t)


@compiled
def _look_closer(scene: Scene, k: int, floor: float, room: float) -> float:
    """Return how much nearer a pair may come in the posture looked at, [m].

    Args:
        scene: Bodies are placed.
        k: The pair.
        floor: How near it may come, [m].
        room: What is known of it: there is no less.
    """
    bodies, R, p, witness = scene.bodies, scene.R_body, scene.p_body, scene.witness
    a, b = scene.pairs.a[k], scene.pairs.b[k]
    room = max(room, bound_along(bodies, a, b, R, p, scene.normal[k]) - floor)
    if room < 0.0:
        scene.work[0] += _EXACT
        room = measure(bodies, a, b, R, p, witness) - floor
        scene.normal[k] = witness[6:]
    return room


@compiled
def _look_aside(scene: Scene, n_open: int, is_first: bool) -> bool:
    """Measure the open pairs between the command looked at and the robot behind it.

    The end of each part of the way stands for all of it (``find_pad``).

    Args:
        scene: Where the command is: ``posture``, ``lag``, ``apart``; ``room`` is made
            less where there is less.
        n_open: How many pairs are open.
        is_first: Nothing has moved yet: ``floor`` is made less where there is less.

    Returns:
        Whether all keep to their floor.
    """
    bodies, R, p, pairs = scene.bodies, scene.R_body, scene.p_body, scene.pairs
    for part in range(N_PARTS):
        share, is_placed = (part + 1.0) / N_PARTS, False
        for place in range(n_open):
            k = scene.open[place]
            floor, astray = scene.floor[k], scene.astray[k]
            left = scene.apart[k] - share * astray - floor
            if astray == 0.0 or left >= scene.change[k]:
                continue
            if not is_placed:
                for i in range(len(scene.lag)):
                    scene.aside[i] = scene.posture[i] + share * scene.lag[i]
                look_at(scene, scene.aside)
                is_placed = True
            scene.work[0] += 1.0
            room = bound_pair(bodies, pairs.a[k], pairs.b[k], R, p) - floor
            if room < min(scene.change[k], _find_fine(floor)):
                room = _look_closer(scene, k, floor, room)
            if is_first and room < 0.0:
                scene.floor[k], room = floor + room, 0.0
            if room < -_ROUNDING:
                return False
            scene.room[k] = min(scene.room[k], room)
    return True


@inlined
def _find_ahead(scene: Scene, n_open: int, t: float) -> float:
    """Return for how many periods no open pair needs a look.

    Args:
        scene: ``room`` and ``change`` are of the posture looked at, ``pace`` of the
            period now; in later ones it is less.
        n_open: How many pairs are open.
        t: Periods since the stop began.
    """
    ahead = math.inf
    for place in range(n_open):
        k = scene.open[place]
        keep, distance = scene.pairs.keep[k], scene.distance[k]
        is_behind = scene.astray[k] > 0.0 and scene.floor[k] < keep
        if distance < keep or is_behind:
            # every sample, or it could come nearer period by period
            ahead = min(ahead, 1.0 + math.floor(t) - t)
        allowed = max(scene.room[k], 0.0) + _find_fine(min(keep, distance))
        if allowed < scene.change[k]:
            ahead = min(ahead, allowed / scene.pace[k])
    return ahead


@inlined
def _find_fine(floor: float) -> float:
    """Return how far two bodies may pass by each other between two looks, [m].

    d apart at both ends of a way s, they come s²/(8 d) nearer in between. What comes
    from farther away has spent the room it had before that begins.
    """
    return math.sqrt(8.0 * _SAG * max(floor, _SAG))
