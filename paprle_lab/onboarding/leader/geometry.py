"""URDFs of leaders."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paprle.contracts.errors import ConfigError
from paprle.robot.discovery.limbs import FoundLimb, find_limbs
from paprle.robot.urdf import read_urdf
from paprle_lab.onboarding.leader.arm_words import GRIPPER, DescribedArm

BASE, HAND = "base_link", "hand"
_FREE = 2.0 * math.pi  # chosen: [rad] a leader's joint has no limit that anyone stated
_SPEED, _EFFORT = 8.0, 1.0  # chosen: [rad/s], [N·m] of small servos
_SCALES = (0.05, 5.0)  # chosen: a leader is smaller than its robot, or little larger


@dataclass(frozen=True, slots=True, kw_only=True)
class _Joint:
    """A joint of a URDF; fixed without an axis."""

    name: str
    parent: str
    child: str
    xyz: Sequence[float]
    axis: Sequence[float] = ()
    rpy: str = ""
    limits: tuple[float, float] = (-_FREE, _FREE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """The arm of a leader.

    Attributes:
        urdf: Text, with the joint ``gripper`` at its hand.
        joint_names: From base to hand, without the gripper.
        limits: [rad].
        has_gripper: None: by the number of servos.
        gears: Known servo turns per turn.
    """

    urdf: str
    base_link: str
    eef_link: str
    joint_names: tuple[str, ...]
    limits: Mapping[str, tuple[float, float]]
    has_gripper: bool | None = None
    gears: Mapping[str, float] = field(default_factory=dict)


def make_geometry(name: str, arm: DescribedArm, scale: float = 1.0) -> Geometry:
    """Return a described arm; all frames are parallel at zero.

    Raises:
        ConfigError: If the scale is invalid.
    """
    _check_scale(scale)
    root = ET.Element("robot", name=name)
    ET.SubElement(root, "link", name=BASE)
    parent = BASE
    for joint in arm.joints:
        link = f"{joint.name}_link"
        xyz = [scale * value for value in joint.xyz]
        one = _Joint(
            name=joint.name, parent=parent, child=link, xyz=xyz, axis=joint.axis
        )
        _add_joint(root, one)
        parent = link
    hand = [scale * value for value in arm.hand]
    _add_joint(root, _Joint(name="hand_fixed", parent=parent, child=HAND, xyz=hand))
    _add_gripper(root, HAND)
    names = tuple(joint.name for joint in arm.joints)
    return Geometry(
        urdf=_write(root),
        base_link=BASE,
        eef_link=HAND,
        joint_names=names,
        limits=dict.fromkeys(names, (-_FREE, _FREE)),
        has_gripper=arm.has_gripper or None,
        gears={j.name: j.gear for j in arm.joints if j.gear is not None},
    )


def copy_geometry(
    path: Path, name: str, scale: float = 1.0, limb: str = ""
) -> Geometry:
    """Return the scaled arm of a URDF, without bodies.

    ``scale`` is the leader's length per length in the URDF; an empty ``limb`` means the
    only one.

    Raises:
        ConfigError: If the URDF is invalid, or has another number of arms.
    """
    _check_scale(scale)
    tree = read_urdf(path.resolve())
    found = _choose_limb(path, find_limbs(tree), limb)
    source = {str(j.get("name")): j for j in ET.parse(path).getroot().iter("joint")}
    above = {
        _end(j, "child"): j for j in source.values() if j.find("child") is not None
    }
    chain: list[ET.Element] = []
    link = found.eef_link
    while link != found.base_link and link in above:
        chain.insert(0, above[link])
        link = _end(above[link], "parent")
    root = ET.Element("robot", name=name)
    ET.SubElement(root, "link", name=found.base_link)
    limits = {}
    for joint in chain:
        is_moving = joint.get("name") in found.joint_names
        one = _scale_joint(joint, scale, is_moving=is_moving)
        _add_joint(root, one)
        if is_moving:
            limits[one.name] = one.limits
    _add_gripper(root, found.eef_link)
    return Geometry(
        urdf=_write(root),
        base_link=found.base_link,
        eef_link=found.eef_link,
        joint_names=found.joint_names,
        limits=limits,
    )


def _check_scale(scale: float) -> None:
    low, high = _SCALES
    if not low <= scale <= high:
        raise ConfigError(f"--scale: expected {low} to {high}, got {scale:g}")


def _choose_limb(path: Path, limbs: Sequence[FoundLimb], wanted: str) -> FoundLimb:
    named = {limb.name: limb for limb in limbs}
    if wanted in named:
        return named[wanted]
    if wanted or len(limbs) != 1:
        known = ", ".join(named) or "none"
        raise ConfigError(
            f"{path}: expected one arm, or its name by --limb, got {wanted or known}; "
            f"it has {known}"
        )
    return limbs[0]


def _scale_joint(joint: ET.Element, scale: float, *, is_moving: bool) -> _Joint:
    name, kind = str(joint.get("name")), str(joint.get("type"))
    if is_moving and kind == "prismatic":
        raise ConfigError(f"joint {name}: expected one that turns, got a sliding one")
    origin, limit = joint.find("origin"), joint.find("limit")
    limits = (-_FREE, _FREE)
    if kind == "revolute" and limit is not None:
        limits = float(limit.get("lower", 0)), float(limit.get("upper", 0))
    # spec: URDF: the default axis is x
    axis = (_get(joint.find("axis"), "xyz") or "1 0 0").split()
    return _Joint(
        name=name,
        parent=_end(joint, "parent"),
        child=_end(joint, "child"),
        xyz=[scale * float(x) for x in (_get(origin, "xyz") or "0 0 0").split()],
        axis=[float(word) for word in axis] if is_moving else (),
        rpy=_get(origin, "rpy"),
        limits=limits,
    )


def _get(element: ET.Element | None, key: str) -> str:
    return "" if element is None else element.get(key, "")


def _end(joint: ET.Element, end: str) -> str:
    return _get(joint.find(end), "link")


def _add_gripper(root: ET.Element, parent: str) -> None:
    _add_joint(
        root,
        _Joint(
            name=GRIPPER,
            parent=parent,
            child="trigger",
            xyz=(0.0, 0.0, 0.0),
            axis=(0.0, 1.0, 0.0),
        ),
    )


def _add_joint(root: ET.Element, one: _Joint) -> None:
    ET.SubElement(root, "link", name=one.child)
    kind = "revolute" if one.axis else "fixed"
    joint = ET.SubElement(root, "joint", name=one.name, type=kind)
    ET.SubElement(joint, "parent", link=one.parent)
    ET.SubElement(joint, "child", link=one.child)
    origin = ET.SubElement(joint, "origin", xyz=_join(one.xyz))
    if one.rpy:
        origin.set("rpy", one.rpy)
    if one.axis:
        ET.SubElement(joint, "axis", xyz=_join(one.axis))
        low, high = one.limits
        ET.SubElement(
            joint,
            "limit",
            lower=f"{low:.6g}",
            upper=f"{high:.6g}",
            velocity=f"{_SPEED:g}",
            effort=f"{_EFFORT:g}",
        )


def _join(values: Sequence[float]) -> str:
    return " ".join(f"{value + 0.0:.7g}" for value in values)


def _write(root: ET.Element) -> str:
    ET.indent(root)
    return f'<?xml version="1.0"?>\n{ET.tostring(root, encoding="unicode")}\n'
