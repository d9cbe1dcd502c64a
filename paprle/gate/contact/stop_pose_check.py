"""First check of a stop: its final posture."""

from __future__ import annotations

import math

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.gate.contact.clearance import measure
from paprle.gate.contact.scene import PAIR, Collision, place_bodies_at, refuse
from paprle.gate.limits import ROUNDING
from paprle.robot.arrays import bound_change
from paprle.robot.bodies.distance import bound_along, bound_pair
from paprle.robot.braking import compute_stopping_distance


@compiled
def is_stop_pose_clear(
    collision: Collision, ddq_max: Vec, h: float, c: Vec, v: Vec
) -> bool:
    """Return whether pairs are apart at a stop's end."""
    scene, measured, scratch = collision.scene, collision.measured, collision.scratch
    bodies, pairs, placed = scene.bodies, scene.pairs, scratch.placed
    is_placed, posture = False, scratch.posture
    for i in range(len(c)):
        speed = abs(v[i])
        way = speed * h + compute_stopping_distance(speed, ddq_max[i], h)
        scratch.travel[i], posture[i] = way, c[i] + math.copysign(way, v[i])
    for place in range(measured.n_near[0]):
        k = measured.near[place]
        change = bound_change(pairs.reach, k, scratch.travel)
        if change <= max(measured.distance[k] - pairs.keep[k], 0.0):
            continue
        if not is_placed:
            place_bodies_at(scene, posture, placed, measured.n_queries)
            is_placed = True
        min_allowed = min(pairs.keep[k], measured.distance[k]) - ROUNDING
        bound = bound_pair(bodies, pairs.a[k], pairs.b[k], placed.R_body, placed.p_body)
        if bound < min_allowed and _is_nearer(collision, k, min_allowed):
            refuse(collision, PAIR, k)
            return False
    return True


@compiled
def _is_nearer(collision: Collision, k: int, distance: float) -> bool:
    bodies, pairs = collision.scene.bodies, collision.scene.pairs
    placed, witness = collision.scratch.placed, collision.scratch.witness
    a, b, normals = pairs.a[k], pairs.b[k], collision.measured.normal
    R, p = placed.R_body, placed.p_body
    if bound_along(bodies, a, b, R, p, normals[k]) >= distance:
        return False
    measured = measure(bodies, a, b, R, p, witness)
    for i in range(3):
        normals[k, i] = witness[6 + i]
    return measured < distance
