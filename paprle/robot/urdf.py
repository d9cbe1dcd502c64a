"""Strict URDF reader without meshes or document types."""

from __future__ import annotations

import logging
import math
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import Vec, readonly
from paprle.contracts.urdf.mimic import Mimic
from paprle.robot.bodies.round_ends import join_capsules
from paprle.robot.tree import Inertia, Primitive, Urdf, UrdfJoint

_log = logging.getLogger(__name__)

MAX_BYTES = 16 << 20  # chosen: the largest public humanoid URDF is below 1 MiB
_HEAVIEST = 1e5  # [kg] chosen: heavier than any robot, and far from what overflows
_ROUNDED = 1e-12  # [kg m²] chosen: what tools that compute moments round to
_MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
MAX_LINKS = 2000  # chosen: ten times the links of the largest public humanoid

MAX_MOVABLE = 256  # chosen: twice the joints of a robot with two dexterous hands

_TURN = 2.02 * math.pi  # chosen: [rad] a rounded turn is one
_N_TOLD = 8  # chosen: places in a line

MOVABLE = ("revolute", "continuous", "prismatic")
_AS_FIXED = ("floating", "planar")
_ZERO = re.compile(r"[+-]?0*\.?0+")
_SHAPES = {"box": ("size", 3), "sphere": ("radius", 1)}
_ROUND = ("cylinder", "capsule")


def read_urdf(path: Path) -> Urdf:
    """Return the tree of a URDF.

    Limits include soft ones (``safety_controller``). ``floating``, ``planar`` and
    rangeless joints are read as fixed; bodies of size zero are dropped.

    Raises:
        ConfigError: With every mistake.
    """
    root = _read_xml(path)
    reader = _Reader(path.name)
    elements = root.findall("link")
    links = [reader.name_of(element) for element in elements]
    joints = [reader.joint(element) for element in root.findall("joint")]
    bodies = [body for element in elements for body in reader.bodies(element)]
    inertias = [reader.inertia(element) for element in elements]
    reader.note_softened()
    reader.note_turned()
    reader.check_tree(links, joints)
    if reader.problems:
        raise ConfigError(reader.problems)
    tree = _Tree(path.name, links, joints)
    return Urdf(
        name=root.get("name") or path.stem,
        path=path,
        notes=tuple(reader.notes),
        root=tree.root,
        links=tuple(tree.links),
        joints=tuple(tree.joints),
        primitives=tuple(bodies),
        mesh_links=_mesh_links(elements),
        inertias={n: i for n, i in zip(links, inertias, strict=True) if i is not None},
        parent_joint=tree.parent_joint,
        child_joints=tree.child_joints,
    )


def _read_xml(path: Path) -> ET.Element:
    if not path.is_file():
        got = "a folder" if path.is_dir() else "nothing there"
        raise ConfigError(f"{path}: expected a URDF file, got {got}")
    if path.stat().st_size > MAX_BYTES:
        raise ConfigError(f"{path}: expected a URDF below {MAX_BYTES} bytes, got more")
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    if "<!doctype" in text.lower() or "<!entity" in text.lower():
        raise ConfigError(
            f"{path}: expected a URDF without a document type, got <!DOCTYPE or "
            "<!ENTITY; remove it"
        )
    try:
        root = ET.fromstring(text)
    except (ET.ParseError, ValueError) as error:
        raise ConfigError(f"{path}: expected XML, got {error}") from None
    if root.tag != "robot":
        raise ConfigError(
            f"{path}: expected a <robot>, got <{root.tag}>; is this really a URDF?"
        )
    if any("xacro" in element.tag for element in root):
        raise ConfigError(
            f"{path}: expected a URDF, got xacro; name it .xacro, or expand it"
        )
    return root


def _mesh_links(elements: list[ET.Element]) -> tuple[str, ...]:
    found = []
    for element in elements:
        shapes = {shape.tag for shape in element.findall("collision/geometry/*")}
        if shapes == {"mesh"}:
            found.append(element.get("name", ""))
    return tuple(found)


def _has_no_range(joint: ET.Element) -> bool:
    limit = joint.find("limit")
    kind, mimic = joint.get("type"), joint.find("mimic")
    if limit is None or mimic is not None or kind not in {"revolute", "prismatic"}:
        return False
    bounds = (limit.get("lower", ""), limit.get("upper", ""))
    return all(_ZERO.fullmatch(bound.strip()) for bound in bounds)


class _Reader:
    def __init__(self, where: str) -> None:
        self.where = where
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.softened: list[str] = []
        self.turned: list[str] = []  # by more than a turn

    def note(self, what: str) -> None:
        self.notes.append(what)
        _log.warning("%s: %s", self.where, what)

    def complain(self, what: str) -> None:
        self.problems.append(f"{self.where}: {what}")

    def name_of(self, element: ET.Element) -> str:
        name = element.get("name", "")
        if not name:
            self.complain(f"<{element.tag}>: expected a name, got none")
        return name

    def numbers(
        self, element: ET.Element | None, key: str, default: tuple[float, ...], of: str
    ) -> Vec:
        text = None if element is None else element.get(key)
        if text is None:
            return readonly(default)
        try:
            values = readonly([float(part) for part in text.split()])
        except ValueError:
            values = readonly([math.nan])
        if values.shape != (len(default),) or not np.all(np.isfinite(values)):
            count = "a number" if len(default) == 1 else f"{len(default)} numbers"
            self.complain(f"{of}: {key}: expected {count}, finite, got {text!r}")
            return readonly(default)
        return values

    def pose(self, element: ET.Element, of: str) -> pin.SE3:
        origin = element.find("origin")
        xyz = self.numbers(origin, "xyz", (0.0, 0.0, 0.0), of)
        rpy = self.numbers(origin, "rpy", (0.0, 0.0, 0.0), of)
        if np.abs(rpy).max() > _TURN:
            self.turned.append(f"{of} {' '.join(f'{angle:g}' for angle in rpy)}")
        return pin.SE3(pin.rpy.rpyToMatrix(*rpy.tolist()), np.array(xyz))

    def joint(self, element: ET.Element) -> UrdfJoint:
        name = self.name_of(element)
        of = f"joint {name}"
        kind = element.get("type", "")
        if kind in _AS_FIXED:
            self.note(f"{of} is {kind}; it is held fixed")
            kind = "fixed"
        elif _has_no_range(element):
            self.note(f"{of} has a range of 0 to 0; it is held fixed")
            kind = "fixed"
        elif kind not in (*MOVABLE, "fixed"):
            self.complain(f"{of}: type: expected one of {MOVABLE}, fixed, got {kind!r}")
            kind = "fixed"
        ends = []
        for tag in ("parent", "child"):
            end = element.find(tag)
            ends.append("" if end is None else end.get("link", ""))
        lower, upper, velocity = self.limits(element, kind, of)
        return UrdfJoint(
            name=name,
            kind=kind,
            parent=ends[0],
            child=ends[1],
            T_parent_joint=self.pose(element, of),
            axis=self.axis(element, kind, of),
            lower=lower,
            upper=upper,
            velocity=velocity,
            acceleration=min(
                self.rate(element, key, of) for key in ("acceleration", "deceleration")
            ),
            jerk=self.rate(element, "jerk", of),
            mimic=self.mimic(element, kind, name),
        )

    def axis(self, element: ET.Element, kind: str, of: str) -> Vec:
        axis = self.numbers(element.find("axis"), "xyz", (1.0, 0.0, 0.0), of)
        length = float(np.linalg.norm(axis))
        if kind == "fixed":
            return readonly((1.0, 0.0, 0.0))
        if length < 1e-6:
            self.complain(f"{of}: axis: expected a direction, got {axis.tolist()}")
            return readonly((1.0, 0.0, 0.0))
        return readonly(axis / length)

    def limits(
        self, element: ET.Element, kind: str, of: str
    ) -> tuple[float, float, float]:
        if kind == "fixed":
            return 0.0, 0.0, 0.0
        limit = element.find("limit")
        self.numbers(limit, "effort", (0.0,), of)
        velocity = float(self.numbers(limit, "velocity", (0.0,), of)[0])
        if kind == "continuous":
            return -math.inf, math.inf, velocity
        lower = float(self.numbers(limit, "lower", (0.0,), of)[0])
        upper = float(self.numbers(limit, "upper", (0.0,), of)[0])
        if element.find("mimic") is None and lower >= upper:
            has_none = limit is None or not {"lower", "upper"} & set(limit.keys())
            got = "none" if has_none else f"{lower:g} and {upper:g}"
            self.complain(
                f"{of}: limit: expected lower < upper, got {got}; give it a range in "
                "the URDF, or the type continuous or fixed"
            )
            return lower, upper, velocity
        return *self.soften(element, lower, upper, of), velocity

    def soften(
        self, element: ET.Element, lower: float, upper: float, of: str
    ) -> tuple[float, float]:
        soft = element.find("safety_controller")
        low = float(self.numbers(soft, "soft_lower_limit", (0.0,), of)[0])
        high = float(self.numbers(soft, "soft_upper_limit", (0.0,), of)[0])
        is_led = element.find("mimic") is None
        if not is_led or not low < high:  # spec: both are 0 where there are none
            return lower, upper
        inside = max(lower, low), min(upper, high)
        if not inside[0] < inside[1]:
            self.note(
                f"{of}: its soft limits {low:g} … {high:g} lie outside its limits "
                f"{lower:g} … {upper:g}; they are left out"
            )
            return lower, upper
        if inside != (lower, upper):
            self.softened.append(f"{of.removeprefix('joint ')} {low:g} … {high:g}")
        return inside

    def note_softened(self) -> None:
        if self.softened:
            self.notes.append(f"soft limits are kept: {_list_some(self.softened)}")

    def note_turned(self) -> None:
        if self.turned:
            told = _list_some(self.turned)
            self.notes.append(f"rpy of more than a turn, as in degrees: {told}")

    def rate(self, element: ET.Element, key: str, of: str) -> float:
        limit = element.find("limit")
        if limit is None or limit.get(key) in (None, "inf"):
            return math.inf
        value = float(self.numbers(limit, key, (math.inf,), of)[0])
        if not value > 0.0:
            self.complain(f"{of}: {key}: expected above 0, got {value:g}")
            return math.inf
        return value

    def mimic(self, element: ET.Element, kind: str, name: str) -> Mimic | None:
        mimic = element.find("mimic")
        if mimic is None or kind == "fixed":
            return None
        of = f"joint {name}"
        return Mimic(
            joint=name,
            source=mimic.get("joint", ""),
            multiplier=float(self.numbers(mimic, "multiplier", (1.0,), of)[0]),
            offset=float(self.numbers(mimic, "offset", (0.0,), of)[0]),
        )

    def bodies(self, link: ET.Element) -> list[Primitive]:
        found = []
        of = f"link {link.get('name')}"
        for collision in link.findall("collision"):
            for shape in collision.findall("geometry/*"):
                size = self.size(shape, of)
                if size is None:
                    continue
                found.append(
                    Primitive(
                        link=link.get("name", ""),
                        T_link_body=self.pose(collision, of),
                        shape=shape.tag,
                        size=size,
                        name=collision.get("name", ""),
                    )
                )
        return join_capsules(found)

    def inertia(self, link: ET.Element) -> Inertia | None:
        inertial = link.find("inertial")
        if inertial is None:
            return None
        of = f"link {link.get('name')}"
        mass = float(self.numbers(inertial.find("mass"), "value", (0.0,), of)[0])
        if not 0 <= mass <= _HEAVIEST:
            self.complain(f"{of}: mass: expected 0 to {_HEAVIEST:g} kg, got {mass:g}")
        inertia = inertial.find("inertia")
        tensor = np.zeros((3, 3))
        for key in _MOMENTS:
            row, column = "xyz".index(key[1]), "xyz".index(key[2])
            number = float(self.numbers(inertia, key, (0.0,), of)[0])
            tensor[row, column] = tensor[column, row] = number
            if row == column and number < -_ROUNDED:
                self.complain(f"{of}: {key}: expected at least 0 kg m², got {number:g}")
        return Inertia(
            mass=mass,
            centre=self.numbers(inertial.find("origin"), "xyz", (0.0, 0.0, 0.0), of),
            tensor=readonly(tensor),
        )

    def size(self, shape: ET.Element, of: str) -> tuple[float, ...] | None:
        if shape.tag in _SHAPES:
            key, count = _SHAPES[shape.tag]
            size = self.numbers(shape, key, (0.0,) * count, of)
        elif shape.tag in _ROUND:
            radius = self.numbers(shape, "radius", (0.0,), of)
            size = readonly([*radius, *self.numbers(shape, "length", (0.0,), of)])
        else:
            return None
        if not np.any(size):
            self.note(f"{of}: its {shape.tag} has no size; it is left out")
            return None
        if np.any(size <= 0):
            self.complain(f"{of}: <{shape.tag}>: expected sizes above 0, got {size}")
            return None
        return tuple(size.tolist())

    def check_tree(self, links: list[str], joints: list[UrdfJoint]) -> None:
        if not self._has_good_size(links, joints):
            return
        for what, names in (("link", links), ("joint", [j.name for j in joints])):
            for name, count in Counter(names).items():
                if count > 1:
                    self.complain(f"{what} {name}: expected one, got {count}")
        for joint in joints:
            for end in {joint.parent, joint.child} - set(links):
                self.complain(
                    f"joint {joint.name}: expected links that exist, got {end!r}"
                )
        for child, count in Counter(j.child for j in joints).items():
            if count > 1:
                self.complain(f"link {child}: expected one parent, got {count}")
        self._check_mimics(joints)
        roots = [link for link in links if link not in {j.child for j in joints}]
        if not self.problems and len(roots) != 1:
            self.complain(f"expected one root link, got {', '.join(roots) or 'a loop'}")

    def _has_good_size(self, links: list[str], joints: list[UrdfJoint]) -> bool:
        n_movable = sum(joint.is_movable for joint in joints)
        if not 1 <= len(links) <= MAX_LINKS:
            self.complain(f"expected 1 to {MAX_LINKS} links, got {len(links)}")
        elif n_movable > MAX_MOVABLE:
            self.complain(
                f"expected at most {MAX_MOVABLE} movable joints, got {n_movable}"
            )
        else:
            return True
        return False

    def _check_mimics(self, joints: list[UrdfJoint]) -> None:
        by_name = {joint.name: joint for joint in joints}
        for joint in joints:
            if joint.mimic is None:
                continue
            seen, source = {joint.name}, by_name.get(joint.mimic.source)
            while source is not None and source.mimic and source.name not in seen:
                seen.add(source.name)
                source = by_name.get(source.mimic.source)
            if source is None or not source.is_actuated:
                got = f"{joint.mimic.source!r}, which is none or mimics in a circle"
                self.complain(
                    f"joint {joint.name}: mimic: expected a movable joint, got {got}"
                )


class _Tree:
    def __init__(self, where: str, links: list[str], joints: list[UrdfJoint]) -> None:
        self.child_joints = {
            link: tuple(j for j in joints if j.parent == link) for link in links
        }
        self.parent_joint = {joint.child: joint for joint in joints}
        self.root = next(link for link in links if link not in self.parent_joint)
        self.links: list[str] = []
        self.joints: list[UrdfJoint] = []
        stack = [self.root]
        while stack:
            link = stack.pop()
            self.links.append(link)
            if link in self.parent_joint:
                self.joints.append(self.parent_joint[link])
            stack += [joint.child for joint in reversed(self.child_joints[link])]
        lost = sorted(set(links) - set(self.links))
        if lost:
            raise ConfigError(f"{where}: expected one tree, got a loop of {lost}")


def _list_some(told: list[str]) -> str:
    more = len(told) - _N_TOLD
    return ", ".join(told[:_N_TOLD]) + (f" and {more} more" if more > 0 else "")
