"""Where a stop ends: what is wrong with one is wrong there, most of the time.

A stop is verified look by look from its beginning, and one that leads into something is
refused at the last of them. Near bodies the end is looked at first: one look tells.
"""

from __future__ import annotations

import math

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.gate.clearance import Scene, look_at, measure, sweep_all
from paprle.robot.braking import compute_stopping_distance
from paprle.robot.distance import bound_along, bound_pair

_ROUNDING = 1e-9  # chosen: far above rounding, far below anything that moves


@compiled
def rests_clear(scene: Scene, ddq_max: Vec, h: float, c: Vec, v: Vec) -> bool:
    """Tell whether pairs are apart where a stop ends: if not, ``verify_stop`` refuses.

    Args:
        scene: ``distance`` is measured at c.
        ddq_max: How hard each joint brakes, shape (n,), [rad/s²].
        h: Period, [s].
        c: Last command, shape (n,), [rad].
        v: Velocity of the next, shape (n,), [rad/s].

    Returns:
        Whether they are.
    """
    bodies, R, p = scene.bodies, scene.R_body, scene.p_body
    pairs, is_placed = scene.pairs, False
    for i in range(len(c)):
        speed = abs(v[i])
        way = speed * h + compute_stopping_distance(speed, ddq_max[i], h)
        scene.travel[i], scene.posture[i] = way, c[i] + math.copysign(way, v[i])
    sweep_all(pairs.reach, scene.travel, scene.change)
    for k in range(len(pairs.a)):
        if scene.change[k] <= max(scene.distance[k] - pairs.keep[k], 0.0):
            continue
        if not is_placed:
            look_at(scene, scene.posture)
            is_placed = True
        floor = min(pairs.keep[k], scene.distance[k]) - _ROUNDING
        bound = bound_pair(bodies, pairs.a[k], pairs.b[k], R, p)
        if bound < floor and _is_nearer(scene, k, floor):
            return False
    return True


@compiled
def _is_nearer(scene: Scene, k: int, floor: float) -> bool:
    """Tell whether a pair is nearer than that in the posture looked at."""
    bodies, R, p, witness = scene.bodies, scene.R_body, scene.p_body, scene.witness
    a, b = scene.pairs.a[k], scene.pairs.b[k]
    if bound_along(bodies, a, b, R, p, scene.normal[k]) >= floor:
        return False
    distance = measure(bodies, a, b, R, p, witness)
    scene.normal[k] = witness[6:]
    return distance < floor
