"""Joints and bodies of a URDF, without meshes.

Undriven joints stand at zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from paprle_emulators.servo_rig.arm import FAR

Vec = NDArray[np.float64]

WIDEST = 1.0  # chosen: radius of gyration beyond which no link of a leader is [m]
_TURNS = {"revolute", "continuous"}
_MOMENTS = ("ixx", "ixy", "ixz", "ixy", "iyy", "iyz", "ixz", "iyz", "izz")


@dataclass(frozen=True, slots=True)
class Bodies:
    """Driven joints and their bodies, in the order of names.

    Attributes:
        parents: Carrying joint, -1: the base.
        order: Parents before children.
        placements: Zero pose in the parent's frame, shape (n, 4, 4).
        axes: In the joint's frame, shape (n, 3).
        turns: Revolute, shape (n,).
        masses: Shape (n,), [kg].
        centres: In the joint's frame, shape (n, 3), [m].
        inertias: About the centre, shape (n, 3, 3), [kg·m²].
        lower: Shape (n,), [rad] or [m].
        upper: Likewise.
    """

    parents: tuple[int, ...]
    order: tuple[int, ...]
    placements: Vec
    axes: Vec
    turns: NDArray[np.bool_]
    masses: Vec
    centres: Vec
    inertias: Vec
    lower: Vec
    upper: Vec


class Tree:
    """The link tree of a URDF."""

    def __init__(self, urdf: Path) -> None:
        self.root = ElementTree.parse(urdf).getroot()
        self._urdf = urdf
        joints = list(self.root.iter("joint"))
        joints = [joint for joint in joints if joint.find("child") is not None]
        self.joints = {str(joint.get("name")): joint for joint in joints}
        self._above = {_name_link(joint, "child"): joint for joint in joints}

    def read(self, names: Sequence[str]) -> Bodies:
        """Return driven joints' bodies.

        Raises:
            ValueError: If the URDF lacks a joint.
        """
        missing = [name for name in names if name not in self.joints]
        if missing:
            known = ", ".join(self.joints)
            msg = f"{self._urdf}: expected joint '{missing[0]}', got {known}"
            raise ValueError(msg)
        index = {name: i for i, name in enumerate(names)}
        joints = [self.joints[name] for name in names]
        carriers = [self._find_carrier(_name_link(j, "parent"), index) for j in joints]
        parents = tuple(parent for parent, _ in carriers)
        limits = [_read_limits(joint) for joint in joints]
        masses, centres, inertias = self._collect(index)
        return Bodies(
            parents=parents,
            order=_sort(parents),
            placements=np.array([
                X @ _read_origin(joint)
                for (_, X), joint in zip(carriers, joints, strict=True)
            ]),
            axes=np.array([_read_axis(joint) for joint in joints]),
            turns=np.array([joint.get("type") in _TURNS for joint in joints]),
            masses=masses,
            centres=centres,
            inertias=inertias,
            lower=np.array([low for low, _ in limits]),
            upper=np.array([high for _, high in limits]),
        )  # fmt: skip

    def read_dynamics(self, names: Sequence[str], key: str) -> Vec:
        """Return a number of <dynamics>, default 0."""
        found = [self.joints[name].find("dynamics") for name in names]
        numbers = [0.0 if one is None else float(one.get(key, 0.0)) for one in found]
        return np.array(numbers)

    def _find_carrier(self, link: str, index: Mapping[str, int]) -> tuple[int, Vec]:
        """Return a link's driven joint, and the link's frame in it."""
        X = np.eye(4)
        while (joint := self._above.get(link)) is not None:
            name = str(joint.get("name"))
            if name in index:
                return index[name], X
            X = _read_origin(joint) @ X
            link = _name_link(joint, "parent")
        return -1, X

    def _collect(self, index: Mapping[str, int]) -> tuple[Vec, Vec, Vec]:
        n = len(index)
        parts: list[list[tuple[float, Vec, Vec]]] = [[] for _ in range(n)]
        for link in self.root.iter("link"):
            inertial = link.find("inertial")
            if inertial is None or not is_body(inertial):
                continue
            carrier, X = self._find_carrier(str(link.get("name")), index)
            if carrier >= 0:
                parts[carrier].append(_read_body(inertial, X))
        joined = [_join(part) for part in parts]
        masses, centres, inertias = zip(*joined, strict=True)
        return np.array(masses), np.array(centres), np.array(inertias)


def is_body(inertial: ElementTree.Element) -> bool:
    """Return whether mass and inertia are plausible."""
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        return False
    moments = [float(inertia.get(name, 0.0)) for name in ("ixx", "iyy", "izz")]
    return max(moments) <= float(mass.get("value", 0.0)) * WIDEST**2


def make_rotation(rpy: Sequence[float]) -> Vec:
    """Return the rotation (3, 3) of angles about fixed x, y, z."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(rpy), np.sin(rpy)
    return np.array([
        [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
        [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
        [-sy, cy * sx, cy * cx],
    ])  # fmt: skip


def _name_link(joint: ElementTree.Element, end: str) -> str:
    found = joint.find(end)
    return "" if found is None else str(found.get("link"))


def _read_three(text: str | None) -> Vec:
    return np.array([float(word) for word in (text or "0 0 0").split()])


def _read_origin(element: ElementTree.Element) -> Vec:
    X, origin = np.eye(4), element.find("origin")
    if origin is not None:
        X[:3, 3] = _read_three(origin.get("xyz"))
        X[:3, :3] = make_rotation(_read_three(origin.get("rpy")).tolist())
    return X


def _read_axis(joint: ElementTree.Element) -> Vec:
    axis = joint.find("axis")
    # spec: URDF: the default axis is x
    z = np.array([1.0, 0.0, 0.0]) if axis is None else _read_three(axis.get("xyz"))
    return z / np.linalg.norm(z)


def _read_limits(joint: ElementTree.Element) -> tuple[float, float]:
    limit = joint.find("limit")
    if limit is None or joint.get("type") == "continuous":
        return -FAR, FAR
    return float(limit.get("lower", 0.0)), float(limit.get("upper", 0.0))


def _read_body(inertial: ElementTree.Element, X: Vec) -> tuple[float, Vec, Vec]:
    """Return mass, centre and central inertia in the joint's frame."""
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    at = X @ _read_origin(inertial)
    m = 0.0 if mass is None else float(mass.get("value", 0.0))
    numbers = [0.0 if inertia is None else float(inertia.get(k, 0)) for k in _MOMENTS]
    I_own = np.array(numbers).reshape(3, 3)
    return m, at[:3, 3], at[:3, :3] @ I_own @ at[:3, :3].T


def _join(parts: Sequence[tuple[float, Vec, Vec]]) -> tuple[float, Vec, Vec]:
    """Add bodies by the parallel axis theorem."""
    mass = sum(m for m, _, _ in parts)
    if mass <= 0.0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    centre = np.sum([m * c for m, c, _ in parts], axis=0) / mass
    inertia = np.zeros((3, 3))
    for m, c, I_own in parts:
        d = c - centre
        inertia += I_own + m * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, centre, inertia


def _sort(parents: Sequence[int]) -> tuple[int, ...]:
    order: list[int] = []
    while len(order) < len(parents):
        order += [
            i
            for i, parent in enumerate(parents)
            if i not in order and (parent < 0 or parent in order)
        ]
    return tuple(order)
