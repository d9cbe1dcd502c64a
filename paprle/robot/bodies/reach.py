"""Upper bounds on the change of two bodies' distance with each joint.

They are the largest distance from the joint's axis, the lesser of both bodies, with a
full turn for revolute joints.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from paprle.contracts.types import Vec
from paprle.robot.arrays import Bodies, Ints, Tree
from paprle.robot.bodies.shapes import BALL, DISC, HALF_SPACE

_N_CORNERS = 32  # chosen: a circle's hull is 0.5 % wider than the circle


class _Wrap(NamedTuple):
    """Points whose hull, grown by a margin, holds a body in all places."""

    points: Vec
    margin: float


def compute_reach(
    tree: Tree, q_min: Vec, q_max: Vec, bodies: Bodies, pairs: tuple[Ints, Ints]
) -> Vec:
    """Return bounds on distances' rates, (n, k), [m/rad] or [m/m]."""
    sweeps = _Sweeps(tree, q_min, q_max, bodies)
    reach = np.zeros((len(q_min), len(pairs[0])))
    for k, (a, b) in enumerate(zip(*pairs, strict=True)):
        for one, other in ((int(a), int(b)), (int(b), int(a))):
            held = set(sweeps.chain(other))
            for joint in sweeps.chain(one):
                if joint not in held:
                    rate = min(sweeps.rate(one, joint), sweeps.rate_seen(other, joint))
                    reach[tree.column[joint], k] += abs(tree.scale[joint]) * rate
    return reach


class _Sweeps:
    def __init__(self, tree: Tree, q_min: Vec, q_max: Vec, bodies: Bodies) -> None:
        self._tree = tree
        self._bodies = bodies
        ends = [tree.scale * q[tree.column] + tree.offset for q in (q_min, q_max)]
        self._travel = np.stack(ends, axis=1)
        self.chain = cache(self._find_chain)
        self._circle = cache(self._find_circle)
        self._in_joint = cache(self._wrap_in_joint)
        self._seen = cache(self._wrap_seen)
        self.rate = cache(self._find_rate)
        self.rate_seen = cache(self._find_rate_seen)

    def _find_chain(self, body: int) -> tuple[int, ...]:
        chain, joint = [], int(self._bodies.joint[body])
        while joint >= 0:
            chain.append(joint)
            joint = int(self._tree.parent[joint])
        return tuple(chain)

    def _find_circle(self, joint: int) -> Vec:
        return _make_circle(self._tree.axis[joint])

    def _find_rate(self, body: int, joint: int) -> float:
        return self._distance_from_axis(joint, self._in_joint(body, joint))

    def _find_rate_seen(self, body: int, joint: int) -> float:
        if self._bodies.kind[body] == HALF_SPACE:
            return math.inf
        return self._distance_from_axis(
            joint, self._to_joint(joint, self._seen(body, joint))
        )

    def _distance_from_axis(self, joint: int, wrap: _Wrap) -> float:
        if self._tree.is_prismatic[joint]:
            return 1.0
        along = wrap.points @ self._tree.axis[joint]
        across = wrap.points - along[:, None] * self._tree.axis[joint]
        return math.sqrt((across * across).sum(axis=1).max()) + wrap.margin

    def _wrap_in_joint(self, body: int, joint: int) -> _Wrap:
        if joint == self._bodies.joint[body]:
            return _wrap_body(self._bodies, body)
        chain = (*self._find_chain(body), -1)
        child = chain[chain.index(joint) - 1]
        swept = self._sweep(child, self._in_joint(body, child), forward=True)
        return _Wrap(
            swept.points @ self._tree.R[child].T + self._tree.p[child], swept.margin
        )

    def _wrap_seen(self, body: int, joint: int) -> _Wrap:
        parent = int(self._tree.parent[joint])
        if parent < 0 or parent in self._find_chain(body):
            return self._in_joint(body, parent)
        wrap = self._to_joint(parent, self._seen(body, parent))
        return self._sweep(parent, wrap, forward=False)

    def _to_joint(self, joint: int, wrap: _Wrap) -> _Wrap:
        points = (wrap.points - self._tree.p[joint]) @ self._tree.R[joint]
        return _Wrap(points, wrap.margin)

    def _sweep(self, joint: int, wrap: _Wrap, *, forward: bool) -> _Wrap:
        axis = self._tree.axis[joint]
        if self._tree.is_prismatic[joint]:
            ends = self._travel[joint] if forward else -self._travel[joint]
            moved = [wrap.points + end * axis for end in ends]
            return _Wrap(np.concatenate(moved), wrap.margin)
        along = wrap.points @ axis
        return _Wrap(
            _make_rims(
                self._circle(joint),
                axis,
                self._distance_from_axis(joint, wrap),
                (along.min() - wrap.margin, along.max() + wrap.margin),
            ),
            0.0,
        )


def _make_circle(axis: Vec) -> Vec:
    side = np.eye(3)[np.argmin(np.abs(axis))]
    u = np.cross(axis, side)
    u /= np.linalg.norm(u)
    angles = np.arange(_N_CORNERS) * (2.0 * math.pi / _N_CORNERS)
    return np.outer(np.cos(angles), u) + np.outer(np.sin(angles), np.cross(axis, u))


def _make_rims(
    circle: Vec, axis: Vec, radius: float, heights: tuple[float, float]
) -> Vec:
    rim = (radius / math.cos(math.pi / _N_CORNERS)) * circle
    return np.concatenate([rim + height * axis for height in heights])


def _wrap_body(bodies: Bodies, body: int) -> _Wrap:
    x, y, z = bodies.size[body, :3]
    if bodies.size[body, DISC] > 0.0:
        up = np.array([0.0, 0.0, 1.0])
        disc = bodies.size[body, DISC]
        points = _make_rims(_make_circle(up), up, disc, (-z, z))
    else:
        signs = (-1.0, 1.0)
        points = np.array(
            [(i * x, j * y, k * z) for i in signs for j in signs for k in signs]
        )
    return _Wrap(
        points @ bodies.R[body].T + bodies.p[body], float(bodies.size[body, BALL])
    )
