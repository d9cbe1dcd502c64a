"""Robots of the comparison, as bare URDFs.

Only limb joints move; bodies are the workspace's primitives.
"""

from __future__ import annotations

import copy
import json
import math
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml
from pydantic import TypeAdapter

from benchmarks.peers.problem import Problem, ProblemLimb
from paprle import GateConfig
from paprle.contracts.settings.core import LimbSettings, RobotSettings
from paprle.contracts.settings.limits import LimitSettings
from paprle.robot import RobotModel
from paprle.robot.bodies.collision import CollisionModel
from paprle.robot.urdf import read_urdf

ROOT = Path(__file__).resolve().parents[2]
DT = 0.005  # [s] the product's own rate, 200 Hz
KEEP = GateConfig().clearance_self  # everybody is asked for the product's own
_SPEED_SCALE = {"g1": 0.1}  # its URDF has no-load speeds, 20 to 37 rad/s
_CAPSULES = "_capsules"
_SHORTEST = 0.001  # [m] chosen: a capsule that is a ball, all but
_ARM = "ur5e"  # of which the table is made: all peers read its joints alike
_REACH = 0.6  # [m] chosen: corners from which four tools stand 0.5 m apart at home
_CORNERS = 4
_LARGE = 2.0  # chosen: times that, from where more than four arms do not touch at home


class Robot:
    """A robot for peers, us, and coal."""

    def __init__(
        self, problem: Problem, model: RobotModel, judge: CollisionModel
    ) -> None:
        self.problem = problem
        self.model = model
        self.judge = judge


def load_settings(name: str) -> RobotSettings:
    """Return settings with the URDF's speed limits."""
    values = yaml.safe_load((ROOT / f"configs/follower/{name}.yaml").read_text())
    limits = values.setdefault("limits", {})
    limits["velocity_scale"] = _SPEED_SCALE.get(name, 1.0)
    return TypeAdapter(RobotSettings).validate_json(json.dumps(values))


def make_robot(name: str, folder: Path, settings: RobotSettings | None = None) -> Robot:
    """Return a robot.

    ``name`` is of configs/follower, ``_capsules`` added for capsules in place of
    cylinders, or ``table3``, three arms around a table. A session's ``settings``
    replace the comparison's.
    """
    if name.startswith("table"):
        xml, settings = _make_table(int(name.removeprefix("table")))
    else:
        settings = settings or load_settings(name.removesuffix(_CAPSULES))
        xml = _strip(RobotModel.from_settings(settings, name, ROOT))
    if name.endswith(_CAPSULES):
        _shorten(xml)
    path = path_pin = folder / f"{name}.urdf"
    ET.ElementTree(xml).write(path)
    if name.endswith(_CAPSULES):
        path_pin = folder / f"{name}_pin.urdf"
        path_pin.write_text(path.read_text())
        _round(xml)
        ET.ElementTree(xml).write(path)
    bare = RobotSettings(
        urdf=str(path),
        limbs={k: _without_gripper(v) for k, v in (settings.limbs or {}).items()},
        limits=LimitSettings(velocity_scale=1.0, ddq_max=settings.limits.ddq_max),
        ignore_collisions=settings.ignore_collisions,
    )
    model = RobotModel.from_settings(bare, name, folder)
    ignored = settings.ignore_collisions
    judge = CollisionModel(read_urdf(path), model.info, ignored)
    problem = _describe(model, judge, (path, path_pin), ignored)
    robot = Robot(problem, model, judge)
    robot.problem.write(folder / f"{name}.json")
    return robot


def _shorten(xml: ET.Element) -> None:
    for link in xml.findall("link"):
        checking = ET.SubElement(link, "collision_checking")
        for body in link.findall("collision"):
            for shape in body.findall("geometry/cylinder"):
                length, radius = (float(shape.attrib[k]) for k in ("length", "radius"))
                shape.set("length", repr(max(length - 2.0 * radius, _SHORTEST)))
                ET.SubElement(checking, "capsule", name=body.attrib["name"])


def _round(xml: ET.Element) -> None:
    for shape in [*xml.iter("cylinder")]:
        shape.tag = "capsule"
    for link in xml.findall("link"):
        for checking in link.findall("collision_checking"):
            link.remove(checking)


def _without_gripper(limb: LimbSettings) -> LimbSettings:
    return LimbSettings(
        base_link=limb.base_link,
        eef_link=limb.eef_link,
        joints=limb.joints,
        home=limb.home,
    )


def _strip(model: RobotModel) -> ET.Element:
    xml = ET.parse(model.urdf_path).getroot()
    for link in xml.findall("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
        for number, body in enumerate(link.findall("collision")):
            body.set("name", f"{link.get('name')}_{number}")
    positions = dict(zip(model.joint_names, model.home.tolist(), strict=True))
    for mimic in model.mimics:
        source = positions[mimic.source]
        positions[mimic.joint] = mimic.multiplier * source + mimic.offset
    columns = {
        j: int(k)
        for limb in model.limbs.values()
        for j, k in zip(limb.joint_names, limb.indices, strict=True)
    }
    for joint in xml.findall("joint"):
        name = joint.get("name", "")
        if name in columns:
            _set_limits(joint, model, columns[name])
        elif joint.get("type") != "fixed":
            _fix(joint, positions[name])
    return xml


def _set_limits(joint: ET.Element, model: RobotModel, k: int) -> None:
    limit = joint.find("limit")
    if limit is None or joint.get("type") != "revolute":
        raise ValueError(f"joint '{joint.get('name')}': expected revolute, with limits")
    limit.set("lower", repr(float(model.q_min[k])))
    limit.set("upper", repr(float(model.q_max[k])))
    limit.set("velocity", repr(float(model.dq_max[k])))


def _fix(joint: ET.Element, position: float) -> None:
    origin = joint.find("origin")
    if origin is None:
        origin = ET.SubElement(joint, "origin")
    axis = joint.find("axis")
    values = "1 0 0" if axis is None else axis.get("xyz", "1 0 0")
    a = np.array([float(x) for x in values.split()])
    R = pin.rpy.rpyToMatrix(*_floats(origin.get("rpy")))
    p = _floats(origin.get("xyz"))
    if joint.get("type") == "prismatic":
        p = p + R @ a * position
    else:
        R = R @ pin.exp3(a * position)
    origin.set("xyz", " ".join(map(repr, p.tolist())))
    origin.set("rpy", " ".join(map(repr, pin.rpy.matrixToRpy(R).tolist())))
    joint.set("type", "fixed")
    for tag in ("mimic", "axis", "limit"):
        for child in joint.findall(tag):
            joint.remove(child)


def _floats(text: str | None) -> np.ndarray:
    return np.array([float(x) for x in (text or "0 0 0").split()])


def _make_table(n_arms: int) -> tuple[ET.Element, RobotSettings]:
    settings = load_settings(_ARM)
    arm = _strip(RobotModel.from_settings(settings, _ARM, ROOT))
    table = ET.Element("robot", name=f"table{n_arms}")
    link = ET.SubElement(table, "link", name="table")
    body = ET.SubElement(link, "collision", name="table_0")
    ET.SubElement(body, "origin", xyz="0 0 -0.05")
    scale = _LARGE if n_arms > _CORNERS else 1.0
    side = 1.4 * scale
    ET.SubElement(ET.SubElement(body, "geometry"), "box", size=f"{side} {side} 0.05")
    limbs = {}
    (limb,) = (settings.limbs or {}).values()
    for k in range(n_arms):
        turn, is_between = (0, 2, 1, 3)[k % _CORNERS], k // _CORNERS
        corner = math.pi / 4 * (1 + 2 * turn + is_between)  # two: face to face
        prefix = f"arm{k + 1}_"
        _place_arm(table, arm, prefix, corner, scale * _REACH)
        limbs[prefix.rstrip("_")] = LimbSettings(
            base_link=prefix + limb.base_link,
            eef_link=prefix + limb.eef_link,
            joints=tuple(prefix + j for j in limb.joints or ()),
            home=limb.home,
        )
    ignored = [
        (f"arm{k + 1}_{a}", f"arm{k + 1}_{b}")
        for k in range(n_arms)
        for a, b in settings.ignore_collisions
    ]
    return table, RobotSettings(
        urdf="", limbs=limbs, limits=settings.limits, ignore_collisions=tuple(ignored)
    )


def _place_arm(
    table: ET.Element, arm: ET.Element, prefix: str, corner: float, reach: float
) -> None:
    mount = ET.SubElement(table, "joint", name=f"{prefix}mount", type="fixed")
    ET.SubElement(mount, "parent", link="table")
    ET.SubElement(mount, "child", link=prefix + _find_root(arm))
    xyz = f"{reach * math.cos(corner)} {reach * math.sin(corner)} 0"
    ET.SubElement(mount, "origin", xyz=xyz, rpy=f"0 0 {corner + math.pi}")
    for element in copy.deepcopy(arm):
        if element.tag not in {"link", "joint"}:
            continue
        for part in (element, *element.iter("parent"), *element.iter("child")):
            for key in ("name", "link"):
                if key in part.attrib:
                    part.set(key, prefix + part.attrib[key])
        for body in element.iter("collision"):
            body.set("name", prefix + body.attrib["name"])
        table.append(element)


def _find_root(arm: ET.Element) -> str:
    children = {child.get("link") for child in arm.iter("child")}
    (root,) = {link.get("name", "") for link in arm.findall("link")} - children
    return root


def _describe(
    model: RobotModel,
    judge: CollisionModel,
    paths: tuple[Path, Path],
    ignored: tuple[tuple[str, str], ...],
) -> Problem:
    return Problem(
        name=model.name,
        urdf=str(paths[0]),
        urdf_pin=str(paths[1]),
        joint_names=model.joint_names,
        q_min=tuple(model.q_min.tolist()),
        q_max=tuple(model.q_max.tolist()),
        dq_max=tuple(model.dq_max.tolist()),
        ddq_max=tuple(model.ddq_max.tolist()),
        home=tuple(model.home.tolist()),
        limbs=tuple(
            ProblemLimb(
                name=limb.name,
                base_link=limb.base_link,
                eef_link=limb.eef_link,
                joints=limb.joint_names,
            )
            for limb in model.limbs.values()
        ),
        pairs=find_pairs(judge),
        ignored=ignored,
        keep=KEEP,
        dt=DT,
    )


def find_pairs(judge: CollisionModel) -> tuple[tuple[str, str], ...]:
    """Return names of bodies that the product keeps apart."""
    links = [body.link for body in judge.bodies]
    names = [f"{link}_{k}" for link, k in _count(links)]
    return tuple((names[a], names[b]) for a, b in judge.body_pairs)


def _count(links: list[str]) -> list[tuple[str, int]]:
    seen: dict[str, int] = {}
    numbered = []
    for link in links:
        numbered.append((link, seen.get(link, 0)))
        seen[link] = seen.get(link, 0) + 1
    return numbered
