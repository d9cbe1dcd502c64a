"""Visual shapes of a maker's URDF as small meshes of one color each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import trimesh

from paprle.contracts.urdf.mesh_units import read_unit

_CREASE = 0.5  # [rad] chosen: edges of a housing stay sharp
Color = tuple[int, int, int]


def load_parts(geometry: Any) -> Iterator[tuple[trimesh.Trimesh, Color | None]]:
    """Yield the parts of a shape in the shape's frame [m], with their colors.

    Raises:
        ValueError: If the file is no mesh that can be read.
        OSError: If it cannot be read.
    """
    path = Path(geometry.meshPath)
    if not path.is_file():
        return
    scene = trimesh.load(path, force="scene")
    scale = read_unit(path) * np.asarray(geometry.meshScale).ravel()
    for mesh in scene.dump():
        if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces):
            color = _read_color(mesh)
            mesh.apply_scale(scale)
            yield mesh, _read_material(geometry) if color is None else color


def simplify(mesh: trimesh.Trimesh, n_faces: int) -> trimesh.Trimesh:
    """Return a mesh with fewer faces and with sharp edges that look sharp."""
    small = trimesh.Trimesh(mesh.vertices, mesh.faces, process=True)
    if len(small.faces) > n_faces:
        small = small.simplify_quadric_decimation(face_count=n_faces)
    return trimesh.graph.smooth_shade(small, angle=_CREASE)


def place(mesh: trimesh.Trimesh, T_joint_shape: pin.SE3) -> trimesh.Trimesh:
    """Return a mesh moved into a joint's frame."""
    moved: trimesh.Trimesh = mesh.copy()
    moved.apply_transform(T_joint_shape.homogeneous)
    return moved


def _read_color(mesh: trimesh.Trimesh) -> Color | None:
    """Return the color of a part's own material; None: the file has none."""
    material = getattr(mesh.visual, "material", None)
    if material is None:
        return None
    red, green, blue = (int(part) for part in material.main_color[:3])
    return red, green, blue


def _read_material(geometry: Any) -> Color | None:
    """Return the color that the URDF gives a shape; None: it gives none."""
    if not geometry.overrideMaterial:
        return None
    red, green, blue = (round(255 * float(part)) for part in geometry.meshColor[:3])
    return red, green, blue
