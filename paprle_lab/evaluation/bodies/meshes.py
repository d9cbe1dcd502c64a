"""Contacts between meshes, independent of the gate's bodies and pairs.

Pairs are all links two or more joints apart, except those that nearly always touch.
"""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import RobotInfo, Vec
from paprle.contracts.urdf.mesh_units import read_unit
from paprle.recording.robot import read_recorded_urdf
from paprle.robot.bodies.collision import make_shape
from paprle.robot.joint_tree import JointTree
from paprle.robot.tree import Urdf
from paprle_lab.evaluation.bodies.clearance import STEP, TOLERANCE
from paprle_lab.evaluation.store import Rows
from paprle_lab.evaluation.timing import list_runs
from paprle_lab.evaluation.tracks import EpisodeData

ELEMENT = "paprle"  # of a URDF: holds what was replaced by bodies
_N_POSTURES = 200  # chosen: tells 95 % from 90 %
_ALWAYS = 0.95  # MoveIt Setup Assistant: the share that it calls "always in collision"
_MOSTLY = 0.5  # chosen: of what touches in the middle of all joints' ways as well
_SEED = 1  # chosen: the same verdict each time

Pair = tuple[str, str]


class MeshContact(NamedTuple):
    """Links that touched, or came too near.

    Attributes:
        n: Number of postures.
        first: Time since the gate's first row, [s].
        last: Likewise, [s].
    """

    n: int
    first: float
    last: float


class Contacts(NamedTuple):
    """Contacts of a recording.

    Attributes:
        nearer: Pairs nearer than both the gate's clearance and their bodies.
        left_out: Pairs that nearly always touch.
    """

    n_looks: int
    touching: dict[Pair, MeshContact]
    nearer: dict[Pair, MeshContact]
    left_out: tuple[Pair, ...]


def judge_contacts(episode: EpisodeData) -> Contacts | None:
    """Return the contacts of commands; None without meshes.

    Raises:
        ConfigError: If the URDF or a mesh cannot be read.
    """
    if ET.fromstring(episode.urdf.encode()).find(ELEMENT) is None:
        return None
    urdf = read_recorded_urdf(episode.robot_info, episode.urdf)
    model = MeshModel(urdf, episode.robot_info, episode.urdf)
    gate = episode.config.get("gate") or {}
    clearance = gate.get("clearance_self", GateSettings().clearance_self)
    touching: dict[Pair, MeshContact] = {}
    nearer: dict[Pair, MeshContact] = {}
    n_looks = 0
    for t, q in _list_looks(episode):
        n_looks += 1
        now = model.find_touching(q)
        near = model.find_nearer(q, clearance)
        for found, pairs in ((touching, now), (nearer, near - now)):
            for pair in pairs:
                n, first, _ = found.get(pair, (0, t, t))
                found[pair] = MeshContact(n + 1, first, t)
    return Contacts(n_looks, touching, nearer, model.left_out)


class MeshModel:
    """The meshes of a robot and their pairs."""

    def __init__(self, urdf: Urdf, info: RobotInfo, text: str) -> None:
        """Read the meshes from a URDF text of ``paprle new-robot``.

        Raises:
            ConfigError: If a mesh is missing.
        """
        self._joints = JointTree(urdf, info.joint_names, info.mimics)
        self._data = self._joints.model.createData()
        self._geometry = pin.GeometryModel()
        self._links: list[str] = []
        self._bodies: dict[str, list[tuple[coal.CollisionGeometry, int, pin.SE3]]] = {}
        for body in urdf.primitives:
            joint, T_joint_link = self._joints.find_place(body.link)
            T = T_joint_link * body.T_link_body
            self._bodies.setdefault(body.link, []).append((make_shape(body), joint, T))
        for link, shape, T_link_shape in _list_shapes(urdf, text):
            joint, T_joint_link = self._joints.find_place(link)
            T = T_joint_link * T_link_shape
            name = f"{len(self._links)}"
            self._geometry.addGeometryObject(
                pin.GeometryObject(name, joint, 0, T, shape)
            )
            self._links.append(link)
        pairs = [
            (a, b)
            for a, b in itertools.combinations(range(len(self._links)), 2)
            if len(self._joints.find_columns(self._links[a], self._links[b])) > 1
        ]
        self._set_pairs(pairs)
        self.left_out = self._find_always(info)
        self._set_pairs(
            [pair for pair in pairs if self._name(pair) not in self.left_out]
        )

    def find_touching(self, q: Vec) -> set[Pair]:
        """Return the links that touch at q, shape (n,)."""
        pin.computeCollisions(
            self._joints.model,
            self._data,
            self._geometry,
            self._results,
            self._joints.expand(q),
            False,
        )
        found = self._results.collisionResults
        return {
            self._name(pair)
            for k, pair in enumerate(self._pairs)
            if found[k].isCollision()
        }

    def find_nearer(self, q: Vec, clearance: float) -> set[Pair]:
        """Return pairs nearer than clearance [m] and bodies at q, shape (n,)."""
        self._set_margins(clearance)
        near = self.find_touching(q)
        self._set_margins(0.0)
        return {
            self._name(pair)
            for pair in self._pairs
            if self._name(pair) in near
            and self._is_within(pair, min(clearance, self._measure_bodies(pair)))
        }

    def _is_within(self, pair: tuple[int, int], told: float) -> bool:
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        request.security_margin = told - TOLERANCE
        if request.security_margin <= 0.0:
            return False
        places = [_convert(self._results.oMg[k]) for k in pair]
        shapes = [self._geometry.geometryObjects[k].geometry for k in pair]
        coal.collide(shapes[0], places[0], shapes[1], places[1], request, result)
        return bool(result.isCollision())

    def _measure_bodies(self, pair: tuple[int, int]) -> float:
        one, other = (
            [
                (shape, _convert(self._data.oMi[joint] * T))
                for shape, joint, T in self._bodies.get(self._links[k], ())
            ]
            for k in pair
        )
        return min(
            (
                coal.distance(*a, *b, coal.DistanceRequest(), coal.DistanceResult())
                for a, b in itertools.product(one, other)
            ),
            default=np.inf,
        )

    def _set_margins(self, margin: float) -> None:
        for request in self._results.collisionRequests:
            request.security_margin = margin

    def _set_pairs(self, pairs: list[tuple[int, int]]) -> None:
        self._pairs = pairs
        self._geometry.removeAllCollisionPairs()
        for a, b in pairs:
            self._geometry.addCollisionPair(pin.CollisionPair(a, b))
        self._results = pin.GeometryData(self._geometry)

    def _name(self, pair: tuple[int, int]) -> Pair:
        return self._links[pair[0]], self._links[pair[1]]

    def _find_always(self, info: RobotInfo) -> tuple[Pair, ...]:
        low = np.where(np.isfinite(info.q_min), info.q_min, -np.pi)
        high = np.where(np.isfinite(info.q_max), info.q_max, np.pi)
        postures = np.random.default_rng(_SEED).uniform(
            low, high, (_N_POSTURES, len(low))
        )
        counts = Counter(pair for q in postures for pair in self.find_touching(q))
        middle = self.find_touching(0.5 * (low + high))
        return tuple(
            pair
            for pair, n in counts.items()
            if n >= (_MOSTLY if pair in middle else _ALWAYS) * _N_POSTURES
        )


def _convert(T: pin.SE3) -> coal.Transform3s:
    return coal.Transform3s(T.rotation, T.translation)


def _list_shapes(
    urdf: Urdf, text: str
) -> Iterator[tuple[str, coal.CollisionGeometry, pin.SE3]]:
    kept = ET.fromstring(text.encode()).findall(f"{ELEMENT}/link")
    replaced = {link.get("name", "") for link in kept}
    for body in urdf.primitives:
        if body.link not in replaced:
            yield body.link, make_shape(body), body.T_link_body
    with_meshes = [
        (link.get("name", ""), collision)
        for link in kept
        for collision in link.findall("collision")
    ]
    for name, collision in with_meshes:
        yield name, *_read_shape(collision)


def _read_shape(collision: ET.Element) -> tuple[coal.CollisionGeometry, pin.SE3]:
    origin = collision.find("origin")
    texts = {} if origin is None else origin.attrib
    xyz, rpy = (
        np.array([float(part) for part in texts.get(key, "0 0 0").split()])
        for key in ("xyz", "rpy")
    )
    T_link_shape = pin.SE3(pin.rpy.rpyToMatrix(*rpy), xyz)
    mesh = collision.find("geometry/mesh")
    if mesh is None:
        return _read_primitive(collision), T_link_shape
    path = Path(mesh.get("filename", "").removeprefix("file://"))
    if not path.is_file():
        raise ConfigError(
            f"recorded URDF: expected the mesh {path}, got no such file; judge where "
            "the robot was described"
        )
    scale = np.array([float(part) for part in mesh.get("scale", "1 1 1").split()])
    return coal.MeshLoader().load(str(path), read_unit(path) * scale), T_link_shape


def _read_primitive(collision: ET.Element) -> coal.CollisionGeometry:
    (shape,) = collision.findall("geometry/*")
    if shape.tag == "box":
        return coal.Box(*(float(part) for part in shape.get("size", "").split()))
    if shape.tag == "sphere":
        return coal.Sphere(float(shape.get("radius", "")))
    round_shape = coal.Capsule if shape.tag == "capsule" else coal.Cylinder
    return round_shape(float(shape.get("radius", "")), float(shape.get("length", "")))


def _list_looks(episode: EpisodeData) -> Iterator[tuple[float, Vec]]:
    """Yield time [s] and command after each motion of ``STEP``."""
    # The last command of a run is looked at, however little it moved.
    begin_ns = int(episode.gate[:1]["stamp_ns"][0]) if len(episode.gate) else 0
    for _, _, pieces in list_runs(episode.gate):
        seen, t, q = None, 0.0, None
        for stamp_ns, sent in _list_commands(pieces):
            t, q = (stamp_ns - begin_ns) * 1e-9, sent
            moved = np.inf if seen is None else float(np.abs(q - seen).max())
            if moved <= STEP:
                continue
            if seen is not None and moved > 2.0 * STEP:
                yield t, 0.5 * (seen + q)
            yield t, q
            seen = q
        if q is not None and q is not seen:
            yield t, q


def _list_commands(pieces: Iterable[Rows]) -> Iterator[tuple[int, Vec]]:
    for rows in pieces:
        for stamp_ns, q in zip(rows["stamp_ns"], rows["q_cmd"].copy(), strict=True):
            if np.isfinite(q).all():
                yield int(stamp_ns), q
