"""Relative poses of two links over all postures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.robot.joint_tree import JointTree
from paprle.robot.tree import Urdf, UrdfJoint, flat_mimics

_TURN = 2.0 * math.pi
_N_FINE = 72  # chosen: 5° apart over a full turn
_N_SLIDES = 5  # chosen: a finger's way, over some cm
N_POSTURES = 3000  # chosen: a share of one in a thousand is seen
_WHOLE = 2  # chosen: joints between, all of whose postures can be tried
_SEED = 0  # chosen: the same bodies each time
MIDDLE = -1


class Ball(NamedTuple):
    """A ball around a link.

    Attributes:
        centre: In the link, shape (3,), [m].
        radius: [m].
    """

    centre: Vec
    radius: float


class Way:
    """Two links with relative motion.

    Attributes:
        is_whole: All postures between can be tried.
        places: Second link in the first, by posture where their balls meet, and at mid
            range as ``MIDDLE``; all links share the random postures.
    """

    def __init__(
        self, robot: _Robot, links: tuple[str, str], columns: list[int]
    ) -> None:
        self.links = links
        self._robot, self._columns = robot, columns
        self.n_joints = len(columns)
        self.is_whole = self.n_joints <= _WHOLE
        self.places = robot.relate(links, *robot.random)
        self.places[MIDDLE] = robot.relate_one(links, robot.middle)

    def list_fine(self) -> Iterator[pin.SE3]:
        """Yield relative poses in all postures 5° apart."""
        joints = [self._robot.actuated[column] for column in self._columns]
        for row in itertools.product(*(_list_steps(joint) for joint in joints)):
            q = self._robot.middle.copy()
            q[self._columns] = row
            yield self._robot.relate_one(self.links, q)


class _Robot:
    """All links of a robot in any posture.

    Attributes:
        middle: Mid-range positions, [rad] or [m].
        random: Rotations and positions in random postures.
    """

    def __init__(self, tree: Urdf, balls: Mapping[str, Ball]) -> None:
        self.actuated = [joint for joint in tree.joints if joint.is_actuated]
        names = [joint.name for joint in self.actuated]
        self._balls = balls
        self.joints = JointTree(tree, names, flat_mimics(tree))
        self._data = self.joints.model.createData()
        ends = np.array([_find_range(joint) for joint in self.actuated]).reshape(-1, 2)
        self.middle = ends.mean(axis=1)
        rng = np.random.default_rng(_SEED)
        rows = rng.uniform(ends[:, 0], ends[:, 1], (N_POSTURES, len(ends)))
        self.random = self.place_all(rows)

    def place_all(self, rows: Iterable[Vec]) -> tuple[Vec, Vec]:
        """Return joint frames, (n, m, 3, 3) and (n, m, 3), [m]."""
        Rs, ps = [], []
        for q in rows:
            model = self.joints.model
            pin.forwardKinematics(model, self._data, self.joints.expand(q))
            Rs.append([T.rotation.copy() for T in self._data.oMi])
            ps.append([T.translation.copy() for T in self._data.oMi])
        return np.array(Rs), np.array(ps)

    def relate(self, links: tuple[str, str], Rs: Vec, ps: Vec) -> dict[int, pin.SE3]:
        (R_a, p_a), (R_b, p_b) = (self._place(link, Rs, ps) for link in links)
        a, b = (self._balls[link] for link in links)
        between = p_b + R_b @ b.centre - p_a - R_a @ a.centre
        near = np.linalg.norm(between, axis=1) <= a.radius + b.radius
        R = np.einsum("kji,kjl->kil", R_a, R_b)
        p = np.einsum("kji,kj->ki", R_a, p_b - p_a)
        return {int(k): pin.SE3(R[k], p[k]) for k in np.flatnonzero(near)}

    def relate_one(self, links: tuple[str, str], q: Vec) -> pin.SE3:
        pin.forwardKinematics(self.joints.model, self._data, self.joints.expand(q))
        one, other = (
            self._data.oMi[joint] * T for joint, T in map(self.joints.find_place, links)
        )
        return one.actInv(other)

    def _place(self, link: str, Rs: Vec, ps: Vec) -> tuple[Vec, Vec]:
        joint, T = self.joints.find_place(link)
        R = Rs[:, joint] @ T.rotation
        return R, Rs[:, joint] @ T.translation + ps[:, joint]


def list_ways(tree: Urdf, balls: Mapping[str, Ball]) -> Iterator[Way]:
    """Yield non-adjacent pairs of links with relative motion."""
    robot = _Robot(tree, balls)
    joined = {frozenset((joint.parent, joint.child)) for joint in tree.joints}
    for pair in itertools.combinations([n for n in tree.links if n in balls], 2):
        columns = robot.joints.find_columns(*pair)
        if columns and frozenset(pair) not in joined:
            yield Way(robot, pair, columns)


def _find_range(joint: UrdfJoint) -> tuple[float, float]:
    """Return a joint's range, at most a turn about zero."""
    low, high = joint.lower, joint.upper
    if joint.kind != "prismatic" and not high - low <= _TURN:
        return -0.5 * _TURN, 0.5 * _TURN
    return low, high


def _list_steps(joint: UrdfJoint) -> Sequence[float]:
    low, high = _find_range(joint)
    is_sliding = joint.kind == "prismatic"
    n = _N_SLIDES if is_sliding else 1 + math.ceil(_N_FINE * (high - low) / _TURN)
    return [float(q) for q in np.linspace(low, high, n)]
