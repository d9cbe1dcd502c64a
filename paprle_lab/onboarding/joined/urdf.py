"""Common URDF of several arms."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pinocchio as pin

from paprle.contracts.errors import ConfigError
from paprle.robot.urdf import read_urdf
from paprle_lab.onboarding.mesh_bodies import name_meshes

ROOT = "base_link"
"""The link in which the arms' places are."""

_NAMED = ("link", "joint", "material", "visual", "collision")
_NAMES = {"parent": "link", "child": "link", "mimic": "joint"}
"""Attributes that name another element of the URDF, by tag."""


def join_urdfs(
    name: str, arms: Mapping[str, Path], places: Mapping[str, pin.SE3]
) -> str:
    """Return a URDF with every arm at its place in one root link.

    Links, joints, materials and named bodies get their limb's name and ``_`` in front;
    nothing else is taken.

    Raises:
        ConfigError: If a URDF is invalid, or names clash.
    """
    robot = ET.Element("robot", name=name)
    robot.append(
        ET.Comment(
            " Written by `paprle new-robot`. Each arm is as in its own URDF; joint "
            "LIMB_place says where it stands: x, y, z [m], roll, pitch, yaw [rad]. "
        )
    )
    ET.SubElement(robot, "link", name=ROOT)
    for limb, path in arms.items():
        robot.append(_fix(limb, read_urdf(path).root, places[limb]))
        robot.extend(_read_elements(path, f"{limb}_"))
    _check_names(robot)
    ET.indent(robot)
    text = ET.tostring(robot, encoding="unicode")
    return f'<?xml version="1.0"?>\n{text}\n'


def _fix(limb: str, root: str, T: pin.SE3) -> ET.Element:
    joint = ET.Element("joint", name=f"{limb}_place", type="fixed")
    ET.SubElement(joint, "parent", link=ROOT)
    ET.SubElement(joint, "child", link=f"{limb}_{root}")
    rpy = pin.rpy.matrixToRpy(T.rotation)
    ET.SubElement(joint, "origin", xyz=_join(T.translation), rpy=_join(rpy))
    return joint


def _join(values: Iterable[float]) -> str:
    return " ".join(repr(float(value) + 0.0) for value in values)


def _read_elements(path: Path, prefix: str) -> Iterator[ET.Element]:
    root = ET.fromstring(path.read_bytes())
    name_meshes(root, path)
    for element in root:
        if element.tag not in {"link", "joint", "material"}:
            continue
        for one in element.iter():
            if one.tag in _NAMED and one.get("name"):
                one.set("name", f"{prefix}{one.get('name')}")
            key = _NAMES.get(one.tag)
            if key is not None and element.tag == "joint":
                one.set(key, f"{prefix}{one.get(key)}")
        yield element


def _check_names(robot: ET.Element) -> None:
    for tag in ("link", "joint"):
        counts = Counter(one.get("name", "") for one in robot.findall(tag))
        twice = [name for name, n in counts.items() if n > 1]
        if twice:
            raise ConfigError(
                f"new-robot: expected a name of its own for each {tag}, got "
                f"{', '.join(twice)} of two arms; name the limbs otherwise"
            )
