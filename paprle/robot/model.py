"""Robot model: one vector of actuated joints, without mimics, nq = nv = n."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.extensions import load_extension
from paprle.contracts.settings.core import (
    LimbSettings,
    RobotSettings,
    SceneBodySettings,
)
from paprle.contracts.types import RobotInfo, Vec, readonly
from paprle.contracts.validation.check import check_made, validate
from paprle.contracts.validation.places import Layer, Places
from paprle.robot.arrays import Ints, make_robot_tree
from paprle.robot.bodies.collision import CollisionModel
from paprle.robot.bodies.scene import make_scene
from paprle.robot.chain import Limb, make_chain
from paprle.robot.discovery.held_joints import describe_held
from paprle.robot.discovery.home import guess_home
from paprle.robot.discovery.limbs import discover_limbs
from paprle.robot.discovery.plausible import list_doubts
from paprle.robot.joint_tree import JointTree
from paprle.robot.limits import resolve_limits
from paprle.robot.mirror import find_twins
from paprle.robot.resolver import LimbResolver
from paprle.robot.tree import Urdf, flat_mimics
from paprle.robot.urdf import read_urdf

_log = logging.getLogger(__name__)


class RobotModel:
    """A robot's kinematics, limits and collision bodies.

    Constructors discover missing limbs and homes, and raise ConfigError with all
    problems. Joints are actuated ones, depth first in the URDF; vectors are (n,), [rad]
    or [m].

    Attributes:
        q_min: -inf for continuous joints.
        dq_max: V, [rad/s] or [m/s].
        ddq_max: A, [rad/s²] or [m/s²].
        link_places: Joint of ``tree`` (-1: none) and pose in it, by link.
    """

    def __init__(
        self,
        info: RobotInfo,
        limbs: dict[str, Limb],
        urdf: Urdf,
        settings: RobotSettings | None = None,
        scene: Mapping[str, SceneBodySettings] | None = None,
    ) -> None:
        self.info = info
        self.name = info.name
        self.urdf_path = info.urdf_path
        self.joint_names = info.joint_names
        self.home, self.q_min, self.q_max = info.home, info.q_min, info.q_max
        self.dq_max, self.ddq_max = info.dq_max, info.ddq_max
        self.limbs = limbs
        self.mimics = info.mimics
        self.tree, self.link_places = make_robot_tree(urdf, info)
        self._urdf = urdf
        self._settings = settings or RobotSettings(urdf=str(urdf.path))
        self._ignored = self._settings.ignore_collisions
        self._scene = dict(scene or {})
        self._collision: CollisionModel | None = None

    @classmethod
    def from_settings(
        cls,
        settings: RobotSettings,
        name: str = "",
        root: Path | None = None,
        scene: Mapping[str, SceneBodySettings] | None = None,
    ) -> RobotModel:
        """Return a robot from settings; it collides with ``scene``, too.

        ``root`` is the folder of a relative URDF, by default the working directory.
        """
        check_made(settings, f"follower {name or settings.urdf}")
        urdf = read_urdf((root or Path.cwd()) / settings.urdf)
        return cls._make(urdf, settings, name or urdf.name, scene or {})

    @classmethod
    def from_urdf(
        cls, path: str | Path, limbs: Mapping[str, LimbSettings] | None = None
    ) -> RobotModel:
        """Return a robot from a bare URDF."""
        urdf = read_urdf(Path(path).resolve())
        settings = RobotSettings(urdf=str(path), limbs=limbs)
        if limbs is not None:
            check_made(settings, f"follower {urdf.name}")
        return cls._make(urdf, settings, urdf.name, {})

    @classmethod
    def from_yaml(cls, path: str | Path) -> RobotModel:
        """Return a robot from a follower's YAML.

        A relative URDF is in the YAML's folder, or else in the workspace.
        """
        yaml = Path(path).resolve()
        return cls.from_settings(_read_settings(yaml), yaml.stem)

    @classmethod
    def _make(
        cls,
        urdf: Urdf,
        settings: RobotSettings,
        name: str,
        scene: Mapping[str, SceneBodySettings],
    ) -> RobotModel:
        info, resolver = _read_info(urdf, settings, name)
        make_scene(scene, urdf.links)

        def stand(home: Vec) -> RobotModel:
            at = replace(info, home=home)
            limbs = _make_limbs(at, resolver)
            return cls(at, limbs, urdf, settings, scene)

        robot = stand(info.home)
        if settings.limbs is not None:
            return robot
        return stand(readonly(robot.guess_home()))

    def enclose_meshes(self) -> RobotModel:
        """Return this robot with collision bodies around its meshes.

        The first call takes up to minutes; the result is cached.

        Raises:
            ConfigError: If meshes cannot be enclosed.
            MissingDependency: Without ``paprle_lab``.
        """
        if not self.bare_links:
            return self
        provide = load_extension("paprle.onboarding", "urdf", "enclose_meshes")
        yaml, told = provide(self.urdf_path)
        for line in told:
            _log.log(logging.WARNING if "CHECK" in line else logging.INFO, "%s", line)
        own, found = self._settings, _read_settings(yaml)
        ignored = dict.fromkeys((*own.ignore_collisions, *found.ignore_collisions))
        settings = replace(
            own,
            urdf=found.urdf,
            limbs=found.limbs if own.limbs is None else own.limbs,
            ignore_collisions=tuple(ignored),
        )
        return self.from_settings(settings, self.name, scene=self._scene)

    @property
    def bare_links(self) -> tuple[str, ...]:
        """Links without checked bodies: those of meshes alone, or all."""
        urdf = self._urdf
        return urdf.mesh_links if urdf.primitives else tuple(urdf.links)

    def list_joints(self, limb: str) -> Ints:
        """Return a limb's joint places, its gripper's last, (n_l,)."""
        own = self.limbs[limb]
        gripper = [] if own.gripper is None else [own.gripper.joint]
        places = [self.joint_names.index(joint) for joint in gripper]
        return np.array([*own.indices, *places], dtype=np.int64)

    def make_joint_tree(self) -> JointTree:
        """Return all joints as one pinocchio model."""
        info = self.info
        return JointTree(self._urdf, info.joint_names, info.mimics)

    def find_collision(self, q: Vec) -> tuple[str, str] | None:
        """Return two links that touch at q, (n,), if any."""
        return self._collisions().find_collision(q)

    def find_collisions(self, q: Vec) -> list[tuple[str, str]]:
        """Return all touching pairs of links at q, (n,)."""
        return self._collisions().find_collisions(q)

    @property
    def n_collision_pairs(self) -> int:
        """Number of checked pairs of bodies."""
        return len(self._collisions().pairs)

    def guess_home(self) -> Vec:
        """Return homes for all limbs, (n,), [rad] or [m]."""
        twins = find_twins(self.tree, list(self.limbs.values()))
        return guess_home(self.info, self.limbs, self.measure_clearances, twins)

    def list_doubts(self) -> list[str]:
        """Return doubts about numbers of URDF and limits."""
        return list_doubts(self.info, self._urdf)

    def describe_held(self) -> list[str]:
        """Return lines on the joints in no limb."""
        moved = {j for limb in self.info.limbs for j in limb.joint_names}
        moved |= {limb.gripper.joint for limb in self.info.limbs if limb.gripper}
        held = [name for name in self.joint_names if name not in moved]
        return describe_held(self._urdf, held)

    def measure_clearances(self, q: Vec) -> Vec:
        """Return the distances of pairs of bodies at q, (k,), [m]."""
        return self._collisions().clearances(q)

    def min_clearance(self, q: Vec) -> float:
        """Return the smallest distance at q, [m]; +inf without pairs."""
        return self._collisions().min_clearance(q)

    def check_path(self, qs: Sequence[Vec]) -> tuple[int, tuple[str, str]] | None:
        """Return the first collision, as ``CollisionModel.check_path``."""
        return self._collisions().check_path(qs)

    def make_collision_model(
        self, scene: Mapping[str, SceneBodySettings]
    ) -> CollisionModel:
        """Return the collision model with a scene; not thread-safe.

        Raises:
            ConfigError: If the scene is invalid.
        """
        if dict(scene) == self._scene:
            return self._collisions()
        bodies = make_scene(scene, self._urdf.links)
        return CollisionModel(self._urdf, self.info, self._ignored, bodies)

    def _collisions(self) -> CollisionModel:
        if self._collision is None:
            bodies = make_scene(self._scene, self._urdf.links)
            self._collision = CollisionModel(
                self._urdf, self.info, self._ignored, bodies
            )
        return self._collision


def _read_settings(yaml: Path) -> RobotSettings:
    # a robot of a URDF needs no files of a config
    from paprle.config.folders import DATA  # noqa: PLC0415
    from paprle.config.yaml_text import read_yaml  # noqa: PLC0415

    problems: list[str] = []
    data = read_yaml(yaml, yaml.name, problems) or {}
    places = Places([Layer(yaml.name, {"follower": data})])
    settings = validate(RobotSettings, data, "follower", places, problems)
    if settings is None or problems:
        raise ConfigError(problems)
    beside = yaml.parent / settings.urdf
    urdf = beside if beside.is_file() else DATA / settings.urdf
    return replace(settings, urdf=str(urdf))


def _read_info(
    urdf: Urdf, settings: RobotSettings, name: str
) -> tuple[RobotInfo, LimbResolver]:
    problems: list[str] = []
    given = discover_limbs(urdf) if settings.limbs is None else settings.limbs
    resolver = LimbResolver(urdf, problems)
    limb_infos = resolver.resolve(given)
    joints = [joint for joint in urdf.joints if joint.is_actuated]
    if not joints:
        problems.append(f"{urdf.path.name}: expected movable joints, got none")
    limits = resolve_limits(joints, limb_infos, settings, given, problems)
    link_of = {body.name: body.link for body in urdf.primitives}
    link_of |= {link: link for link in urdf.links}
    for pair in settings.ignore_collisions:
        problems += [
            f"ignore_collisions: expected links of {urdf.path.name}, or its collision "
            f"bodies by their names, got {name!r}"
            for name in pair
            if name not in link_of
        ]
    if problems:
        raise ConfigError([f"follower {name}: {problem}" for problem in problems])
    info = RobotInfo(
        name=name,
        urdf_path=urdf.path,
        joint_names=tuple(joint.name for joint in joints),
        **limits,
        limbs=limb_infos,
        mimics=flat_mimics(urdf),
        ignored=tuple(
            dict.fromkeys(
                (link_of[a], link_of[b]) for a, b in settings.ignore_collisions
            )
        ),
        sliding=tuple(joint.name for joint in joints if joint.kind == "prismatic"),
    )
    return info, resolver


def _make_limbs(info: RobotInfo, resolver: LimbResolver) -> dict[str, Limb]:
    positions = dict(zip(info.joint_names, info.home.tolist(), strict=True))
    mimics = {mimic.joint: mimic for mimic in info.mimics}
    for mimic in info.mimics:
        positions[mimic.joint] = (
            mimic.multiplier * positions[mimic.source] + mimic.offset
        )
    limbs = {}
    for limb_info in info.limbs:
        chain = make_chain(
            resolver.steps[limb_info.name], limb_info.joint_names, positions, mimics
        )
        limbs[limb_info.name] = Limb(limb_info, info, chain)
    return limbs
