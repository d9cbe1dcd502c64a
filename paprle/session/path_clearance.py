"""Distances of bodies at a posture and on a path; thread-safe."""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled_aside, inlined
from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import Vec
from paprle.gate.contact.clearance import measure
from paprle.gate.contact.scene import Collision, Scene, place_bodies_at
from paprle.gate.memory import Sizes, allocate, fill, view_memory
from paprle.robot import RobotModel
from paprle.robot.arrays import Ints, Pairs, make_reach
from paprle.robot.bodies.arrays import to_arrays
from paprle.robot.bodies.distance import bound_pair
from paprle.session.slow_move import sample_path

_KEPT = 0.95  # [1] chosen: of the gate's clearance; it may stand a little nearer


class Ways:
    """Checks straight joint paths against the gate's clearance."""

    def __init__(self, robot: RobotModel, gate: GateSettings) -> None:
        model = robot.make_collision_model(gate.scene)
        a, b = np.array(model.body_pairs, dtype=np.int64).reshape(-1, 2).T
        keep = model.find_kept(gate.clearance_self, gate.clearance_scene)
        bodies = to_arrays(model.bodies, robot.link_places)
        nothing = make_reach(np.zeros((0, len(a))))
        n, m = len(robot.joint_names), len(robot.tree.parent)
        self._memory = allocate(Sizes(n, 0, m, len(bodies.joint), len(a), 0, 1, 0))
        scene = Scene(robot.tree, bodies, Pairs(a, b, keep, nothing))
        fill(view_memory(*self._memory).collision.scene, scene)
        self._names = tuple(model.pairs)

    def find_contact(self, q_start: Vec, q_goal: Vec) -> str:
        """Describe two links too near on a path, joints (n,), [rad], if any."""
        pair = find_near_pair(*self._copy(), sample_path(q_start, q_goal), _KEPT)
        if pair < 0:
            return ""
        return f"'{self._names[pair][0]}' would touch '{self._names[pair][1]}'"

    def measure(self, q: Vec) -> float:
        """Return the least distance at q, (n,), [m]; +inf without pairs."""
        return float(find_clearance(*self._copy(), q))

    def _copy(self) -> tuple[Vec, Ints]:
        floats, integers = self._memory
        return floats.copy(), integers


@compiled_aside
def find_near_pair(floats: Vec, integers: Ints, path: Vec, share: float) -> int:
    """Return the first pair nearer than ``share`` of ``Pairs.keep``, or -1.

    ``path`` has shape (m, n), [rad]; ``floats`` is scratch.
    """
    collision = view_memory(floats, integers).collision
    pairs = collision.scene.pairs
    for row in range(len(path)):
        _place(collision, path[row])
        for k in range(len(pairs.a)):
            least = share * pairs.keep[k]
            if _find_distance(collision, k, least) < least:
                return k
    return -1


@compiled_aside
def find_clearance(floats: Vec, integers: Ints, q: Vec) -> float:
    """Return the smallest distance at q, (n,), [m]; ``floats`` is scratch."""
    collision, least = view_memory(floats, integers).collision, math.inf
    _place(collision, q)
    for k in range(len(collision.scene.pairs.a)):
        least = min(least, _find_distance(collision, k, least))
    return least


@inlined
def _place(collision: Collision, q: Vec) -> None:
    placed, work = collision.scratch.placed, collision.measured.n_queries
    place_bodies_at(collision.scene, q, placed, work)


@inlined
def _find_distance(collision: Collision, k: int, least: float) -> float:
    scene, scratch = collision.scene, collision.scratch
    bodies, a, b = scene.bodies, scene.pairs.a[k], scene.pairs.b[k]
    R, p = scratch.placed.R_body, scratch.placed.p_body
    bound = bound_pair(bodies, a, b, R, p)
    if bound >= least:
        return bound
    return measure(bodies, a, b, R, p, scratch.witness)
