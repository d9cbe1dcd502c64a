"""Exemption of pairs that one joint moves and that stay clear in its range.

Padding for lag would refuse to close a gripper around an object.
"""

from __future__ import annotations

import math

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.gate.contact.clearance import measure
from paprle.gate.contact.scene import Collision, place_bodies_at
from paprle.gate.memory import view_memory
from paprle.robot.arrays import Ints

_BEYOND = 0.05  # chosen: of a joint's range; a real joint may read a little outside
_MARGIN = 1e-3  # [m] chosen: a pair that comes nearer to its clearance is checked
_LEAST = 1e-3  # chosen: of a joint's range; a pair that needs shorter steps is checked


@compiled
def leave_out_clear_pairs(floats: Vec, integers: Ints, q_min: Vec, q_max: Vec) -> None:
    """Set ``keep`` of exempt pairs to −inf."""
    _, _, _, collision, _, _ = view_memory(floats, integers)
    pairs = collision.scene.pairs
    for k in range(len(pairs.a)):
        if _is_always_clear(collision, k, q_min, q_max):
            pairs.keep[k] = -math.inf


@compiled
def _is_always_clear(collision: Collision, k: int, q_min: Vec, q_max: Vec) -> bool:
    # The distance changes by ``reach`` at most, so each measured one proves a stretch
    # of the range.
    scene, scratch = collision.scene, collision.scratch
    n_queries = collision.measured.n_queries
    pairs, posture, placed = scene.pairs, scratch.posture, scratch.placed
    first = pairs.reach.starts[k]
    if pairs.reach.starts[k + 1] - first != 1:
        return False
    i, rate = pairs.reach.column[first], pairs.reach.rate[first]
    width = q_max[i] - q_min[i]
    if not (math.isfinite(width) and width > 0.0):
        return False
    need, end = pairs.keep[k] + _MARGIN, q_max[i] + _BEYOND * width
    posture[:] = 0.0
    posture[i] = q_min[i] - _BEYOND * width
    while posture[i] <= end:
        place_bodies_at(scene, posture, placed, n_queries)
        R, p, witness = placed.R_body, placed.p_body, scratch.witness
        distance = measure(scene.bodies, pairs.a[k], pairs.b[k], R, p, witness)
        stretch = (distance - need) / rate
        if not stretch >= _LEAST * width:
            return False
        posture[i] += stretch
    return True
