"""Bodies for links with only meshes."""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from paprle.contracts.kit.work import UNSEEN, Work
from paprle.contracts.types import Vec
from paprle.contracts.urdf.mesh_units import read_unit
from paprle.robot.bodies.round_ends import list_ends
from paprle.robot.tree import Primitive, Urdf
from paprle_lab.onboarding.fit import fit_bodies
from paprle_lab.onboarding.link_pairs import make_primitive
from paprle_lab.onboarding.mesh_sizes import check_sizes

_MAX_BYTES = 64 << 20  # chosen: ten times the largest mesh of a public arm
_HEAD = (
    "<!-- Written by `paprle new-robot`: meshes enclosed in bodies. What they enclose "
    "stands in the element paprle, for who judges them. -->\n"
)


class ExemptPairs(NamedTuple):
    """Pairs exempt from clearance; ``never``: their meshes never touch."""

    never: tuple[tuple[str, str], ...] = ()
    always: tuple[tuple[str, str], ...] = ()


class Covered(NamedTuple):
    """The bodies around meshes.

    Attributes:
        path: The copy; None without readable meshes.
        blocked: Share of lost postures.
    """

    path: Path | None
    n_meshes: int
    n_bodies: int
    doubts: tuple[str, ...]
    exempt: ExemptPairs = ExemptPairs()
    blocked: Mapping[tuple[str, str], float] = MappingProxyType({})
    links: frozenset[str] = frozenset()


def cover_meshes(tree: Urdf, out: Path, work: Work = UNSEEN) -> Covered:
    """Return bodies replacing meshes in a copy of a URDF.

    Raises:
        ConfigError: If meshes are far larger than the robot.
    """
    root = ET.fromstring(tree.path.read_bytes())
    doubts = []
    work.note("reading meshes")
    meshes: dict[str, list[Vec]] = {}
    kept = ET.Element("paprle")
    for link in root.findall("link"):
        name = link.get("name", "")
        original = ET.Element("link", name=name)
        original.extend(copy.deepcopy(link.findall("collision")))
        for collision in link.findall("collision"):
            mesh = collision.find("geometry/mesh")
            if mesh is None:
                continue
            try:
                geometry = _load(mesh, tree.path)
            except (OSError, ValueError, RuntimeError) as err:
                doubts.append(f"link {name} is not checked: {err}")
                continue
            triangles = list_triangles(geometry, _find_place(collision))
            meshes.setdefault(name, []).append(triangles)
            link.remove(collision)
        if name in meshes:
            kept.append(original)
    if not meshes:
        return Covered(None, 0, 0, tuple(doubts))
    doubts += check_sizes(tree, meshes)
    fitted = fit_bodies(tree, {k: np.concatenate(v) for k, v in meshes.items()}, work)
    for link in root.findall("link"):
        name = link.get("name", "")
        for k, piece in enumerate(fitted.pieces.get(name, ())):
            primitive = make_primitive(name, piece, f"{name}_body_{k}")
            link.extend(_write_body(primitive))
    root.append(kept)
    name_meshes(root, tree.path)
    out.write_text(_HEAD + ET.tostring(root, encoding="unicode"), encoding="utf-8")
    n_meshes = sum(map(len, meshes.values()))
    n_bodies = sum(map(len, fitted.pieces.values()))
    whole = {link for link in tree.mesh_links if link in meshes}
    return Covered(
        out,
        n_meshes,
        n_bodies,
        tuple(doubts),
        ExemptPairs(
            never=tuple(
                (f"{a}_body_{i}", f"{b}_body_{k}") for (a, i), (b, k) in fitted.never
            ),
            always=tuple(pair for pair in fitted.always if not whole.isdisjoint(pair)),
        ),
        fitted.blocked,
        frozenset(meshes),
    )


def list_triangles(geometry: coal.BVHModelBase, T: pin.SE3) -> Vec:
    """Return a mesh's triangles in its link, shape (k, 3, 3), [m]."""
    points = np.asarray(geometry.vertices()) @ T.rotation.T + T.translation
    corners = [geometry.tri_indices(k) for k in range(geometry.num_tris)]
    found: Vec = points[np.array([(c[0], c[1], c[2]) for c in corners], dtype=int)]
    return found.reshape(-1, 3, 3)


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
    shape = coal.MeshLoader().load(str(path), read_unit(path) * scale)
    points = np.asarray(shape.vertices())
    if not len(points) or not np.isfinite(points).all():
        raise ValueError(f"{path}: expected points, got none, or some not finite")
    return shape


def find_mesh(name: str, urdf: Path) -> Path | None:
    """Return a mesh's file beside its URDF or in its package.

    Without ROS, a folder of the package's name is searched upwards.
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


def _write_body(body: Primitive) -> Iterator[ET.Element]:
    rpy = pin.rpy.matrixToRpy(body.T_link_body.rotation)
    if body.shape == "box":
        yield _write_shape(
            body.name, body.T_link_body.translation, rpy, "box", size=body.size
        )
        return
    radius, length = body.size
    yield _write_shape(
        body.name,
        body.T_link_body.translation,
        rpy,
        "cylinder",
        radius=radius,
        length=length,
    )
    if body.shape == "capsule":
        for k, end in enumerate(list_ends(body)):
            yield _write_shape(
                f"{body.name}_end_{k}", end, np.zeros(3), "sphere", radius=radius
            )


def _write_shape(
    name: str, xyz: Vec, rpy: Vec, shape: str, **size: object
) -> ET.Element:
    collision = ET.Element("collision", name=name)
    ET.SubElement(collision, "origin", xyz=_join(xyz), rpy=_join(rpy))
    geometry = ET.SubElement(collision, "geometry")
    ET.SubElement(geometry, shape, {key: _join(value) for key, value in size.items()})
    return collision


def name_meshes(root: ET.Element, urdf: Path) -> None:
    """Make mesh paths absolute."""
    for mesh in root.iter("mesh"):
        path = find_mesh(mesh.get("filename", ""), urdf)
        if path is not None:
            mesh.set("filename", f"file://{path}")


def _join(numbers: object) -> str:
    return " ".join(f"{x:.6g}" for x in np.ravel(np.asarray(numbers, dtype=float)))
