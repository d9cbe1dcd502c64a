"""Collisions of the primitive bodies of URDF and scene, by coal.

Left out are rigid, adjacent, ignored and one gripper's own pairs, and overlaps in all
tried postures, or at home across one joint.
"""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from paprle.contracts.types import RobotInfo, Vec
from paprle.robot.joint_tree import JointTree
from paprle.robot.tree import Primitive, Urdf

_log = logging.getLogger(__name__)

_N_SAMPLES = 64  # chosen: postures in which an overlap must persist to be ignored
_HOME_SHARE = 0.9  # chosen: leaves room to stop before home's own clearance
_UNMOVED = 1e-5  # [m] chosen: ten times what coal rounds to
_NEAR = 0.2  # [m] chosen: any arm stops within it
_AT_ONCE = 4000  # chosen: pairs; 0.5 ms for which a tick beside may have to wait
# measured: 20 ms with 76,000 pairs; none of 320 answers stood behind the 1530th
_MOST_LOOKED_AT = 2000
_SEED = 0  # chosen: the same pairs in every run
OVERLAP_AT_A_JOINT = "touch at home, one joint between"


class _Ball(NamedTuple):
    centre: Vec
    radius: float


class CollisionModel:
    """The bodies of a robot and the pairs of them that must not touch.

    Attributes:
        bodies: Of the URDF, then of the scene.
        pairs: Links or scene bodies.
        body_pairs: The same as indices into ``bodies``.
    """

    def __init__(
        self,
        urdf: Urdf,
        info: RobotInfo,
        ignored: tuple[tuple[str, str], ...] = (),
        scene: tuple[Primitive, ...] = (),
    ) -> None:
        self._info, self._urdf = info, urdf
        grippers = {limb.gripper.joint for limb in info.limbs if limb.gripper}
        self._tree = JointTree(urdf, info.joint_names, info.mimics, grippers)
        self._data = self._tree.model.createData()
        self._geometry = pin.GeometryModel()
        self.bodies = (*urdf.primitives, *scene)
        self.n_robot_bodies = len(urdf.primitives)
        self._links = [body.link for body in self.bodies]
        self._balls = [_find_ball(body) for body in self.bodies]
        for number, body in enumerate(self.bodies):
            joint_id, T_joint_link = self._tree.find_place(body.link)
            self._geometry.addGeometryObject(
                pin.GeometryObject(
                    f"{body.link}_{number}",
                    joint_id,
                    0,
                    T_joint_link * body.T_link_body,
                    make_shape(body),
                )
            )
        _warn_once(urdf.path, _describe_missing(urdf))
        self.left_out: dict[tuple[str, str], str] = {}
        self._set_pairs(self._candidates(urdf, ignored))
        self._drop_lasting_overlaps()
        self._drop_overlaps_at_a_joint(urdf)

    def find_collision(self, q: Vec) -> tuple[str, str] | None:
        """Return two links that touch at q, (n,), if any."""
        if not self.pairs or not self._collide(q, stop_at_first=True):
            return None
        return self.pairs[self._touching()[0]]

    def find_collisions(self, q: Vec) -> list[tuple[str, str]]:
        """Return all touching pairs of links at q, (n,)."""
        return list(dict.fromkeys(self.pairs[k] for k in self._find_touching(q)))

    def check_path(self, qs: Sequence[Vec]) -> tuple[int, tuple[str, str]] | None:
        """Return the first index along a path where two links touch, and these.

        Bodies that touch at its beginning, as a folded arm does, may come apart.
        """
        touching = set(self._find_touching(qs[0])) if len(qs) else set()
        apart = self.clearances(qs[0]) if touching else np.zeros(0)
        for index, q in enumerate(qs):
            if not touching:
                hit = self.find_collision(q)
                if hit is not None:
                    return index, hit
                continue
            found = self._find_touching(q)
            now = self.clearances(q)
            for k in found:
                if k not in touching or now[k] < apart[k] - _UNMOVED:
                    return index, self.pairs[k]
            touching.intersection_update(found)
            apart = np.maximum(apart, now)
        return None

    def min_clearance(self, q: Vec) -> float:
        """Return the smallest distance at q, [m]; +inf without pairs."""
        return float(self.clearances(q).min(initial=math.inf))

    def clearances(self, q: Vec) -> Vec:
        """Return the distances of ``pairs`` at q, (k,), [m]."""
        results = self._results
        if self.pairs:
            pin.computeDistances(
                self._tree.model,
                self._data,
                self._geometry,
                results,
                self._tree.expand(q),
            )
        return np.array([result.min_distance for result in results.distanceResults])

    def find_tightest(self, q: Vec, q_asked: Vec, kept: Vec) -> int:
        """Return the pair with the least clearance beyond ``kept``, (k,), [m], or −1.

        Pairs that come nearer on the way to ``q_asked`` take precedence.
        """
        if not self.pairs:
            return -1
        a, b = self._sides
        self._place(q_asked, self._asked)
        balls = zip(self._place(q, self._results), self._balls, strict=True)
        centres = np.array([T.act(ball.centre) for T, ball in balls])
        radii = np.array([ball.radius for ball in self._balls])
        bounds = []
        for first in range(0, len(a), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            apart = np.linalg.norm(centres[a[some]] - centres[b[some]], axis=1)
            bounds.append(apart - radii[a[some]] - radii[b[some]] - kept[some])
        at_least = np.concatenate(bounds)
        near = np.flatnonzero(at_least <= _NEAR)
        nearest = near[np.argsort(at_least[near])][:_MOST_LOOKED_AT]
        found, limit = [], _NEAR
        for k in map(int, nearest):
            if at_least[k] > limit:
                break  # few pairs have to be measured
            distance = self._measure(self._results, k)
            spare = distance - kept[k]
            if spare > limit:
                continue
            is_closing = self._measure(self._asked, k) < distance - _UNMOVED
            found.append((not is_closing, spare, k))
            limit = spare if is_closing else limit
        return min(found)[2] if found else -1

    def _measure(self, placed: pin.GeometryData, k: int) -> float:
        result = pin.computeDistance(self._geometry, placed, k)
        return float(result.min_distance)

    def _place(self, q: Vec, results: pin.GeometryData) -> list[pin.SE3]:
        model, data, full = self._tree.model, self._data, self._tree.expand(q)
        pin.updateGeometryPlacements(model, data, self._geometry, results, full)
        return list(results.oMg)

    def describe_pair(self, k: int) -> str:
        """Return a text on a pair and its limbs."""
        links = self.pairs[k]
        own = [body < self.n_robot_bodies for body in self.body_pairs[k]]
        a, b = (
            f"'{link}'{self._name_owner(link) if is_own else ' of the scene'}"
            for link, is_own in zip(links, own, strict=True)
        )
        return f"{a} is kept clear of {b}"

    def _name_owner(self, link: str) -> str:
        columns = self._tree.find_columns(self._urdf.root, link)
        movers = {self._info.joint_names[column] for column in columns}
        for limb in self._info.limbs:
            fingers = (limb.gripper.joint,) if limb.gripper else ()
            if movers.intersection((*limb.joint_names, *fingers)):
                return f" of {limb.name}"
        return ""

    def find_nearest_points(self, k: int) -> Vec:
        """Return a pair's nearest points at the last ``clearances``, (2, 3), [m]."""
        result = self._results.distanceResults[k]
        return np.stack([result.getNearestPoint1(), result.getNearestPoint2()])

    def find_kept(self, between_links: float, to_scene: float) -> Vec:
        """Return the clearance to hold by pair, at most 90 % of home's, (k,), [m]."""
        is_scene = [b >= self.n_robot_bodies for _, b in self.body_pairs]
        asked = np.where(is_scene, to_scene, between_links)
        at_home = np.maximum(self.clearances(self._info.home), 0.0)
        kept: Vec = np.minimum(asked, _HOME_SHARE * at_home)
        return kept

    def _collide(self, q: Vec, *, stop_at_first: bool) -> bool:
        return bool(
            pin.computeCollisions(
                self._tree.model,
                self._data,
                self._geometry,
                self._results,
                self._tree.expand(q),
                stop_at_first,
            )
        )

    def _find_touching(self, q: Vec) -> list[int]:
        if not self.pairs:
            return []
        self._collide(q, stop_at_first=False)
        return self._touching()

    def _touching(self) -> list[int]:
        results = self._results.collisionResults
        return [k for k in range(len(self.pairs)) if results[k].isCollision()]

    def _set_pairs(self, pairs: list[tuple[int, int]]) -> None:
        self._geometry.removeAllCollisionPairs()
        for a, b in pairs:
            self._geometry.addCollisionPair(pin.CollisionPair(a, b))
        self._results = pin.GeometryData(self._geometry)
        self._asked = pin.GeometryData(self._geometry)
        for request in self._results.collisionRequests:
            # Without contacts coal takes some overlapping cylinders to be apart.
            request.enable_contact = True  # measured: 9 of 40,000 pairs on Baxter
        self.body_pairs = pairs
        self.pairs = [(self._links[a], self._links[b]) for a, b in pairs]
        self._sides = np.array(pairs, dtype=np.int64).reshape(-1, 2).T

    def _candidates(
        self, urdf: Urdf, ignored: tuple[tuple[str, str], ...]
    ) -> list[tuple[int, int]]:
        harmless = {
            frozenset((j.parent, j.child)): "joined by one joint" for j in urdf.joints
        }
        harmless |= {frozenset(pair): "told to be ignored" for pair in ignored}
        names = [body.name for body in self.bodies]
        candidates = []
        for a, b in itertools.combinations(range(len(self._links)), 2):
            pair = self._links[a], self._links[b]
            places = [self._tree.find_place(link)[0] for link in pair]
            movers = [self._tree.moved_by.get(link) for link in pair]
            if places[0] == places[1]:
                if pair[0] != pair[1]:
                    self.left_out[pair] = "one rigid part"
            elif frozenset(pair) in harmless:
                self.left_out[pair] = harmless[frozenset(pair)]
            elif frozenset((names[a], names[b])) in harmless:
                self.left_out[names[a], names[b]] = harmless[
                    frozenset((names[a], names[b]))
                ]
            elif movers[0] and movers[0] == movers[1]:
                self.left_out[pair] = "fingers of one gripper"
            else:
                candidates.append((a, b))
        return candidates

    def _drop_lasting_overlaps(self) -> None:
        everything = self.body_pairs
        lasting = everything
        for q in _postures(self._info):
            if not lasting:
                break
            self._set_pairs(lasting)
            lasting = [lasting[k] for k in self._find_touching(q)]
        dropped = set(lasting)
        for a, b in lasting:
            self.left_out[self._links[a], self._links[b]] = (
                "touch in every posture tried"
            )
        self._set_pairs([pair for pair in everything if pair not in dropped])

    def _drop_overlaps_at_a_joint(self, urdf: Urdf) -> None:
        beside = {
            frozenset((self._tree.place[j.parent][0], self._tree.place[j.child][0]))
            for j in urdf.joints
            if j.is_movable
        }
        dropped = set()
        for k in self._find_touching(self._info.home):
            places = [self._tree.find_place(link)[0] for link in self.pairs[k]]
            of_scene = self.body_pairs[k][1] >= self.n_robot_bodies
            if frozenset(places) in beside and not of_scene:
                dropped.add(self.body_pairs[k])
                self.left_out[self.pairs[k]] = OVERLAP_AT_A_JOINT
        if dropped:
            self._set_pairs([pair for pair in self.body_pairs if pair not in dropped])


def make_shape(body: Primitive) -> coal.CollisionGeometry:
    """Return a body as a coal shape."""
    if body.shape == "ground":
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    shapes = {
        "box": coal.Box,
        "sphere": coal.Sphere,
        "cylinder": coal.Cylinder,
        "capsule": coal.Capsule,
    }
    return shapes[body.shape](*body.size)


def _find_ball(body: Primitive) -> _Ball:
    if body.shape == "ground":
        return _Ball(np.zeros(3), math.inf)
    shape = make_shape(body)
    shape.computeLocalAABB()
    return _Ball(np.array(shape.aabb_center), float(shape.aabb_radius))


def _postures(info: RobotInfo) -> list[Vec]:
    rng = np.random.default_rng(_SEED)
    low = np.where(np.isfinite(info.q_min), info.q_min, -np.pi)
    high = np.where(np.isfinite(info.q_max), info.q_max, np.pi)
    samples = rng.uniform(low, high, (_N_SAMPLES, len(info.joint_names)))
    return [info.home, *samples]


def _describe_missing(urdf: Urdf) -> str:
    remedy = "give the links such bodies in the URDF (docs/collision.md)"
    if not urdf.primitives:
        return (
            f"{urdf.path.name}: no link has a box, sphere, cylinder or capsule to "
            f"collide with, so self-collision is not checked; {remedy}"
        )
    if not urdf.mesh_links:
        return ""
    links = ", ".join(urdf.mesh_links)
    return (
        f"{urdf.path.name}: only meshes, so self-collision is not checked, for "
        f"{links}; {remedy}"
    )


@cache
def _warn_once(_path: Path, text: str) -> None:
    if text:
        _log.warning("%s", text)
