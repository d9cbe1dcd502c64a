"""Parsed URDF: a tree of links."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.contracts.urdf.mimic import Mimic


@dataclass(frozen=True, slots=True, kw_only=True)
class UrdfJoint:
    """A joint of a URDF.

    Attributes:
        kind: ``fixed``, ``revolute``, ``continuous`` or ``prismatic``.
        T_parent_joint: At q = 0.
        axis: Unit vector in the joint's frame, (3,).
        lower: [rad] or [m]; -inf for continuous, NaN when absent.
        velocity: [rad/s] or [m/s]; 0 when absent.
        acceleration: Lower one of URDF 1.2, [rad/s²] or [m/s²].
        jerk: Of URDF 1.2, [rad/s³] or [m/s³].
    """

    name: str
    kind: str
    parent: str
    child: str
    T_parent_joint: pin.SE3
    axis: Vec
    lower: float
    upper: float
    velocity: float
    acceleration: float = math.inf
    jerk: float = math.inf
    mimic: Mimic | None = None

    @property
    def is_movable(self) -> bool:
        """Whether it moves, actuated or as a mimic."""
        return self.kind != "fixed"

    @property
    def is_actuated(self) -> bool:
        """Whether it has a place in the robot's vector."""
        return self.is_movable and self.mimic is None

    def T_parent_child(self, q: float) -> pin.SE3:
        """Return the child link's pose in the parent at q."""
        if self.kind == "fixed":
            return self.T_parent_joint
        if self.kind == "prismatic":
            return self.T_parent_joint * pin.SE3(np.eye(3), self.axis * q)
        return self.T_parent_joint * pin.SE3(pin.exp3(self.axis * q), np.zeros(3))


@dataclass(frozen=True, slots=True, kw_only=True)
class Primitive:
    """A collision body: box (x, y, z), sphere (r), cylinder or capsule (r, length)."""

    link: str
    T_link_body: pin.SE3
    shape: str
    size: tuple[float, ...]
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inertia:
    """A link's mass, [kg], its centre, (3,), [m], and inertia, (3, 3), [kg m²]."""

    mass: float
    centre: Vec
    tensor: Vec

    def find_moments(self) -> Vec:
        """Return the principal moments, rising, (3,), [kg m²]."""
        return np.asarray(np.linalg.eigvalsh(self.tensor))


@dataclass(frozen=True, slots=True, kw_only=True)
class Urdf:
    """A tree of links and joints, depth first.

    ``notes`` are deviations from the file, ``primitives`` all collision bodies but
    meshes, ``mesh_links`` collide by meshes alone.
    """

    name: str
    path: Path
    root: str
    links: tuple[str, ...]
    joints: tuple[UrdfJoint, ...]
    primitives: tuple[Primitive, ...]
    mesh_links: tuple[str, ...]
    inertias: dict[str, Inertia] = field(repr=False)
    parent_joint: dict[str, UrdfJoint] = field(repr=False)
    child_joints: dict[str, tuple[UrdfJoint, ...]] = field(repr=False)
    notes: tuple[str, ...] = ()

    def joint(self, name: str) -> UrdfJoint:
        """Return a joint by name."""
        return next(joint for joint in self.joints if joint.name == name)

    def chain_to(self, link: str) -> list[UrdfJoint]:
        """Return the joints from the root to a link."""
        chain = []
        while link in self.parent_joint:
            chain.append(self.parent_joint[link])
            link = chain[-1].parent
        return chain[::-1]


def flat_mimics(urdf: Urdf) -> tuple[Mimic, ...]:
    """Return all mimics by actuated sources."""
    mimics = {j.name: j.mimic for j in urdf.joints if j.mimic is not None}
    flat = []
    for mimic in mimics.values():
        source, multiplier, offset = mimic.source, mimic.multiplier, mimic.offset
        while source in mimics:
            above = mimics[source]
            offset += multiplier * above.offset
            multiplier *= above.multiplier
            source = above.source
        flat.append(
            Mimic(
                joint=mimic.joint, source=source, multiplier=multiplier, offset=offset
            )
        )
    return tuple(flat)
