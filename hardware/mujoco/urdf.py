"""URDF for any version of MuJoCo's reader.

Meshes, visuals and mimic tags are removed, inertias repaired, bases fixed.
"""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np

_log = logging.getLogger(__name__)

_AS_FIXED = ("floating", "planar")
_BOUNDED = ("revolute", "prismatic")
_NOT_READ = ("visual", "transmission", "gazebo", "mujoco")
_AXES = "xyz"
_THINNEST = 0.01  # [1] chosen: of the largest moment; what is less is mended to this


def read_plain_urdf(path: Path) -> str:
    """Return the URDF's joints, masses and primitives.

    Raises:
        ValueError: No file, or no XML.
    """
    try:
        robot = ET.parse(path).getroot()
    except (OSError, ET.ParseError) as err:
        raise ValueError(f"{path}: expected a URDF, got {err}") from err
    for link in robot.findall("link"):
        _drop(link, _NOT_READ)
        n_meshes = _drop_bodies(link, _is_mesh)
        _drop_bodies(link, _has_no_size)
        if n_meshes and link.find("collision") is None:
            _log.warning(
                "%s: link '%s' has only meshes to collide with; it touches nothing",
                path.name,
                link.get("name"),
            )
        _mend_inertia(path, link)
        for number, body in enumerate(link.findall("collision")):
            body.set("name", f"{link.get('name')}_{number}")
    for joint in robot.findall("joint"):
        _simplify(joint)
    _drop(robot, _NOT_READ)
    return ET.tostring(robot, encoding="unicode")


def _mend_inertia(path: Path, link: ET.Element) -> None:
    inertia = link.find("inertial/inertia")
    if inertia is None:
        return
    keys = [[f"i{min(a, b)}{max(a, b)}" for b in _AXES] for a in _AXES]
    tensor = np.array([[float(inertia.get(key, "0")) for key in row] for row in keys])
    if not np.isfinite(tensor).all() or not tensor.any():
        return
    moments, axes = np.linalg.eigh(tensor)
    if moments[0] > 0.0:
        return
    _log.warning(
        "%s: inertia of link '%s': expected positive moments, got %s; a hundredth of "
        "the largest is taken for those",
        path.name,
        link.get("name"),
        ", ".join(f"{moment:.2g}" for moment in moments),
    )
    least = _THINNEST * float(np.abs(moments).max())
    mended = (axes * np.maximum(moments, least)) @ axes.T
    for row, values in zip(keys, mended, strict=True):
        for key, value in zip(row, values, strict=True):
            inertia.set(key, f"{value:.17g}")


def _simplify(joint: ET.Element) -> None:
    limit = joint.find("limit")
    if joint.get("type") in _AS_FIXED or _has_no_range(joint):
        joint.set("type", "fixed")
    _drop(joint, ("mimic",))
    if joint.get("type") == "continuous" and limit is not None:
        for bound in ("lower", "upper"):  # which some versions would apply
            limit.attrib.pop(bound, None)


def _has_no_range(joint: ET.Element) -> bool:
    limit = joint.find("limit")
    if limit is None or joint.find("mimic") is not None:
        return False
    if joint.get("type") not in _BOUNDED:
        return False
    return {float(limit.get(bound, "nan")) for bound in ("lower", "upper")} == {0.0}


def _drop(element: ET.Element, tags: tuple[str, ...]) -> None:
    for tag in tags:
        for child in element.findall(tag):
            element.remove(child)


def _drop_bodies(link: ET.Element, is_no_body: Callable[[ET.Element], bool]) -> int:
    bodies = [body for body in link.findall("collision") if is_no_body(body)]
    for body in bodies:
        link.remove(body)
    return len(bodies)


def _is_mesh(body: ET.Element) -> bool:
    return body.find("geometry/mesh") is not None


def _has_no_size(body: ET.Element) -> bool:
    box = body.find("geometry/box")
    return box is not None and not any(map(float, box.get("size", "0").split()))
