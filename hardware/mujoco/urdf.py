"""A URDF as MuJoCo's reader takes it, whatever its version.

What is taken away: meshes (most are missing or in formats that MuJoCo does not read),
visuals, bodies of size zero, and mimic tags, which only newer versions know. Mobile
bases and joints without a range are fixed.
"""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

_log = logging.getLogger(__name__)

_AS_FIXED = ("floating", "planar")
_BOUNDED = ("revolute", "prismatic")
_NOT_READ = ("visual", "transmission", "gazebo", "mujoco")


def read_plain_urdf(path: Path) -> str:
    """Return the URDF with nothing left in it but joints, masses and primitives.

    Args:
        path: The URDF.

    Returns:
        Its text; every collision body has a name.

    Raises:
        ValueError: If there is no such file, or it is no XML.
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
        for number, body in enumerate(link.findall("collision")):
            body.set("name", f"{link.get('name')}_{number}")
    for joint in robot.findall("joint"):
        _simplify(joint)
    _drop(robot, _NOT_READ)
    return ET.tostring(robot, encoding="unicode")


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
