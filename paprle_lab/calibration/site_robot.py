"""Calibrated URDF and settings of a robot."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from paprle.config.folders import Folder, find_site
from paprle.contracts.errors import ConfigError
from paprle.contracts.types import LimbInfo, RobotInfo
from paprle.robot.chain import chain_between
from paprle.robot.tree import Urdf, UrdfJoint
from paprle_lab.calibration.recorded_touches import TouchedRobot
from paprle_lab.calibration.site_file import merge_into, replace_text

_PLACE_DIGITS, _TURN_DIGITS = 6, 7  # chosen: a micrometre, and that in 10 m


def add_tool(robot: TouchedRobot, limb: LimbInfo, T_eef_tool: pin.SE3) -> str:
    """Return the URDF with a link added or moved at a limb's tool.

    Raises:
        ConfigError: If the maker's URDF has a link of that name.
    """
    root, name = ET.fromstring(robot.urdf), name_tool(limb)
    added = [one for one in root.findall("joint") if one.get("name") == f"{name}_joint"]
    if added and limb.eef_link == name:
        _set_origin(added[0], _read_origin(added[0]) * T_eef_tool)
        return _write(root, robot.info.urdf_path.parent)
    if any(one.get("name") == name for one in root.findall("link")):
        raise ConfigError(
            f"calibrate tool: expected a URDF without a link '{name}', got one; give "
            "it another name"
        )
    ET.SubElement(root, "link", name=name)
    joint = ET.SubElement(root, "joint", name=f"{name}_joint", type="fixed")
    ET.SubElement(joint, "parent", link=limb.eef_link)
    ET.SubElement(joint, "child", link=name)
    _set_origin(joint, T_eef_tool)
    return _write(root, robot.info.urdf_path.parent)


def name_tool(limb: LimbInfo) -> str:
    """Return the name of a limb's tool link."""
    return f"{limb.name}_tcp"


def place_base(
    robot: TouchedRobot, urdf: Urdf, limbs: tuple[LimbInfo, LimbInfo], T: pin.SE3
) -> str:
    """Return the URDF with the second limb's base at T in the first's.

    Raises:
        ConfigError: If the bases are one link, or move against each other.
    """
    first, second = limbs
    steps = chain_between(urdf, first.base_link, second.base_link)
    _check_bases(steps, first, second)
    down = [joint for joint, is_down in steps if is_down]
    moved = down[-1] if down else steps[0][0]
    above, below = pin.SE3.Identity(), pin.SE3.Identity()
    is_above = True
    for joint, is_down in steps:
        step = joint.T_parent_joint if is_down else joint.T_parent_joint.inverse()
        if joint.name == moved.name:
            is_above = False
        elif is_above:
            above = above * step
        else:
            below = below * step
    T_joint = above.inverse() * T * below.inverse()
    root = ET.fromstring(robot.urdf)
    _set_origin(_find_joint(root, moved.name), T_joint if down else T_joint.inverse())
    return _write(root, robot.info.urdf_path.parent)


def store_robot(
    robot: TouchedRobot,
    urdf: str,
    eef_links: Mapping[str, str],
    site: Folder | None = None,
) -> tuple[Path, Path]:
    """Return a robot's stored URDF and merged follower's YAML.

    Raises:
        ConfigError: If that YAML is damaged; both are kept.
    """
    site = site or find_site()
    written = (site.path / f"urdf/{robot.follower}.urdf").absolute()
    limbs = {
        limb.name: _describe_limb(limb, eef_links.get(limb.name, limb.eef_link))
        for limb in robot.info.limbs
    }
    follower = {"urdf": str(written), "limbs": limbs}
    path = merge_into(site, f"follower/{robot.follower}.yaml", follower)
    replace_text(written, urdf)
    return written, path


def _describe_limb(limb: LimbInfo, eef_link: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "base_link": limb.base_link,
        "eef_link": eef_link,
        "joints": list(limb.joint_names),
    }
    if limb.gripper is not None:
        hand = limb.gripper
        described["gripper"] = {
            "joint": hand.joint,
            "closed": hand.closed,
            "open": hand.open,
        }
    return described


def find_limb(info: RobotInfo, name: str) -> LimbInfo:
    """Return a limb by name."""
    return next(limb for limb in info.limbs if limb.name == name)


def _check_bases(
    steps: list[tuple[UrdfJoint, bool]], first: LimbInfo, second: LimbInfo
) -> None:
    if not steps:
        raise ConfigError(
            f"calibrate bases: expected two bases, got '{first.base_link}' for both "
            f"'{first.name}' and '{second.name}'; give each limb a base_link of its own"
        )
    moving = [joint.name for joint, _ in steps if joint.is_movable]
    if moving:
        raise ConfigError(
            f"calibrate bases: expected bases that stand, got '{moving[0]}' between "
            f"'{first.base_link}' and '{second.base_link}'"
        )


def _find_joint(root: ET.Element, name: str) -> ET.Element:
    return next(one for one in root.findall("joint") if one.get("name") == name)


def _read_origin(joint: ET.Element) -> pin.SE3:
    origin = joint.find("origin")
    values = {} if origin is None else origin.attrib
    xyz, rpy = (
        np.array([float(x) for x in values.get(key, "0 0 0").split()])
        for key in ("xyz", "rpy")
    )
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy), xyz)


def _set_origin(joint: ET.Element, T: pin.SE3) -> None:
    origin = joint.find("origin")
    if origin is None:
        origin = ET.SubElement(joint, "origin")
    origin.set("xyz", _join(T.translation, _PLACE_DIGITS))
    origin.set("rpy", _join(pin.rpy.matrixToRpy(T.rotation), _TURN_DIGITS))


def _join(values: Any, digits: int) -> str:
    return " ".join(f"{float(value):.{digits}f}" for value in values)


def _write(root: ET.Element, folder: Path) -> str:
    for mesh in root.iter("mesh"):
        name = mesh.get("filename", "")
        if name and "://" not in name and not Path(name).is_absolute():
            mesh.set("filename", str((folder / name).resolve()))
    ET.indent(root)
    return '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
