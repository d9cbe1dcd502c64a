"""A URDF as MuJoCo's reader takes it, whatever its version.

What is taken away: meshes (most are missing or in formats that MuJoCo does not read),
visuals, and mimic tags, which only newer versions know. Mobile bases are fixed.
"""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from pathlib import Path

_log = logging.getLogger(__name__)

_AS_FIXED = ("floating", "planar")
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
        n_meshes = _drop_meshes(link)
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
    _drop(joint, ("mimic",))
    if joint.get("type") in _AS_FIXED:
        joint.set("type", "fixed")
    limit = joint.find("limit")
    if joint.get("type") == "continuous" and limit is not None:
        for bound in ("lower", "upper"):  # which some versions would apply
            limit.attrib.pop(bound, None)


def _drop(element: ET.Element, tags: tuple[str, ...]) -> None:
    for tag in tags:
        for child in element.findall(tag):
            element.remove(child)


def _drop_meshes(link: ET.Element) -> int:
    bodies = [
        b for b in link.findall("collision") if b.find("geometry/mesh") is not None
    ]
    for body in bodies:
        link.remove(body)
    return len(bodies)
