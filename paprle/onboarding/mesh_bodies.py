"""Give links that have only meshes to collide with bodies that the gate can keep apart.

What is written is a copy of the URDF, in which each mesh to collide with is replaced by
a capsule or box around it, so the gate, its judge and the simulator see the same.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from paprle.onboarding.bounding_shapes import Enclosure, enclose
from paprle.onboarding.exempt_pairs import LinkShapes, Unjudged, find_unjudged
from paprle.robot.tree import Urdf

_MAX_BYTES = 64 << 20  # chosen: ten times the largest mesh of a public arm
_HEAD = (
    "<!-- Written by `paprle new-robot`: meshes enclosed in capsules and boxes. -->\n"
)


class Covered(NamedTuple):
    """What became of the meshes.

    Attributes:
        path: The copy; None where no mesh could be read.
        n_bodies: How many meshes were enclosed.
        doubts: Meshes that could not be, and why.
        unjudged: Pairs of links that the bodies should not keep apart.
    """

    path: Path | None
    n_bodies: int
    doubts: tuple[str, ...]
    unjudged: Unjudged = Unjudged()


def cover_meshes(tree: Urdf, out: Path) -> Covered:
    """Write a copy of a URDF with bodies in place of its collision meshes.

    Args:
        tree: The URDF.
        out: Where the copy goes, if any mesh is found.

    Returns:
        What became of the meshes.
    """
    root = ET.fromstring(tree.path.read_bytes())
    doubts = []
    shapes: dict[str, LinkShapes] = {}
    for link in root.findall("link"):
        name = link.get("name", "")
        for collision in link.findall("collision"):
            mesh = collision.find("geometry/mesh")
            if mesh is None:
                continue
            try:
                geometry = _load(mesh, tree.path)
            except (OSError, ValueError, RuntimeError) as err:
                doubts.append(f"link {name} is not checked: {err}")
                continue
            T_link_mesh = _find_place(collision)
            body = enclose(np.asarray(geometry.vertices()))
            T_link_body = T_link_mesh * body.T_mesh_body
            _replace(collision, T_link_body, body)
            found = shapes.setdefault(name, LinkShapes([], []))
            found.meshes.append((geometry, T_link_mesh))
            found.bodies.append((_make_geometry(body), T_link_body))
    if not shapes:
        return Covered(None, 0, tuple(doubts))
    _keep_pictures(root, tree.path)
    out.write_text(_HEAD + ET.tostring(root, encoding="unicode"), encoding="utf-8")
    whole = {name: shapes[name] for name in tree.mesh_links if name in shapes}
    n_bodies = sum(len(found.bodies) for found in shapes.values())
    return Covered(out, n_bodies, tuple(doubts), find_unjudged(tree, whole))


def _make_geometry(body: Enclosure) -> coal.CollisionGeometry:
    return (coal.Box if body.shape == "box" else coal.Capsule)(*body.size)


def _load(mesh: ET.Element, urdf: Path) -> coal.BVHModelBase:
    name = mesh.get("filename", "")
    path = find_mesh(name, urdf)
    if path is None:
        raise OSError(f"expected the mesh {name!r}, got no such file")
    if path.stat().st_size > _MAX_BYTES:
        raise OSError(f"{path}: expected a mesh below {_MAX_BYTES} bytes, got more")
    scale = np.array([float(part) for part in mesh.get("scale", "1 1 1").split()])
    if scale.shape != (3,) or not np.isfinite(scale).all():
        raise ValueError(f"{path}: scale: expected 3 numbers, got {mesh.get('scale')}")
    shape = coal.MeshLoader().load(str(path), scale)
    points = np.asarray(shape.vertices())
    if not len(points) or not np.isfinite(points).all():
        raise ValueError(f"{path}: expected points, got none, or some not finite")
    return shape


def find_mesh(name: str, urdf: Path) -> Path | None:
    """Return the file of a mesh beside its URDF, or in the package that it names.

    ROS finds packages by its environment; without it, a folder of the package's name
    is looked for from the URDF upwards.

    Returns:
        None where there is no such file.
    """
    if not name.startswith("package://"):
        path = urdf.parent / name.removeprefix("file://")
        return path if path.is_file() else None
    package, _, rest = name.removeprefix("package://").partition("/")
    for folder in urdf.parents:
        inside = folder if folder.name == package else folder / package
        if (inside / rest).is_file():
            return inside / rest
    return None


def _find_place(collision: ET.Element) -> pin.SE3:
    origin = collision.find("origin")
    texts = {} if origin is None else origin.attrib
    xyz, rpy = (
        np.array([float(part) for part in texts.get(key, "0 0 0").split()])
        for key in ("xyz", "rpy")
    )
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy), xyz)


def _replace(collision: ET.Element, T_link_body: pin.SE3, body: Enclosure) -> None:
    """Put a body in the place of a mesh."""
    for old in (*collision.findall("geometry"), *collision.findall("origin")):
        collision.remove(old)
    ET.SubElement(
        collision,
        "origin",
        xyz=_join(T_link_body.translation),
        rpy=_join(pin.rpy.matrixToRpy(T_link_body.rotation)),
    )
    geometry = ET.SubElement(collision, "geometry")
    if body.shape == "box":
        ET.SubElement(geometry, "box", size=_join(body.size))
    else:
        radius, length = body.size
        ET.SubElement(
            geometry, "capsule", radius=_join([radius]), length=_join([length])
        )


def _keep_pictures(root: ET.Element, urdf: Path) -> None:
    """Let the meshes that are only looked at be found from the copy, too."""
    for mesh in root.iter("mesh"):
        path = find_mesh(mesh.get("filename", ""), urdf)
        if path is not None:
            mesh.set("filename", f"file://{path}")


def _join(numbers: object) -> str:
    return " ".join(f"{x:.6g}" for x in np.ravel(np.asarray(numbers, dtype=float)))
