"""A URDF with several copies of an arm around a table, each facing the middle."""

from __future__ import annotations

import copy
import math
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def write_arm_table(folder, n_arms, robot="papras_7dof", radius=0.7):
    """Write the URDF and return its path; names get the prefix ``a0_`` and so on."""
    source = ET.parse(ROOT / "urdf" / robot / "robot.urdf").getroot()
    root_link = find_root(source)
    table = ET.Element("robot", name=f"{robot}_x{n_arms}")
    ET.SubElement(table, "link", name="table")
    for number in range(n_arms):
        prefix = f"a{number}_"
        for element in source:
            if element.tag in {"link", "joint"}:
                table.append(rename(copy.deepcopy(element), prefix))
        angle = 2.0 * math.pi * number / n_arms
        mount = ET.SubElement(table, "joint", name=f"{prefix}mount", type="fixed")
        ET.SubElement(mount, "parent", link="table")
        ET.SubElement(mount, "child", link=prefix + root_link)
        place = f"{-radius * math.cos(angle)} {-radius * math.sin(angle)} 0"
        ET.SubElement(mount, "origin", xyz=place, rpy=f"0 0 {angle}")
    path = Path(folder) / "table.urdf"
    ET.ElementTree(table).write(path)
    return path


def find_root(robot):
    children = {joint.find("child").get("link") for joint in robot.iter("joint")}
    return next(
        n for link in robot.iter("link") if (n := link.get("name")) not in children
    )


def rename(element, prefix):
    element.set("name", prefix + element.get("name"))
    for tag, key in (("parent", "link"), ("child", "link"), ("mimic", "joint")):
        for child in element.iter(tag):
            child.set(key, prefix + child.get(key))
    return element
