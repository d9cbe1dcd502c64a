"""Surroundings of the robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin
import trimesh
import viser

from paprle.contracts.scene_body import SceneBody
from paprle.contracts.types import Vec
from paprle.observers.view.drawing import palette
from paprle.observers.view.drawing.bodies import Color

_AXES = 0.05  # [m] chosen: of an object whose shape nobody told
_GROUND = (2.0, 2.0, 1e-3)  # [m] chosen: as much of a ground as is seen
_STILL = 1e-4  # [m] and [1] chosen: no pixel moves by less


class Surroundings:
    """Bodies and moving objects; ``lowest`` is in [m], +inf: none."""

    def __init__(
        self, server: viser.ViserServer, bodies: Sequence[SceneBody], base: Vec
    ) -> None:
        self._server, self._base = server, base
        self._handles: dict[str, viser.FrameHandle] = {}
        self._moving = {body.name for body in bodies if body.moves}
        self.shapes: dict[str, list[tuple[viser.MeshHandle, Color]]] = {}
        self.lowest = np.inf
        for body in bodies:
            self._add(body)

    def show(self, objects: Mapping[str, Vec]) -> None:
        """Draw T_world_object, xyz + quat_xyzw by name."""
        for name in self._moving - objects.keys():
            self._handles[name].visible = False
        for name, row in objects.items():
            handle = self._handles.get(name) or self._add_unknown(name)
            handle.visible = True
            _place(handle, row)

    def _add(self, body: SceneBody) -> None:
        mesh = make_mesh(body)
        handle = self._add_frame(body.name, has_axes=False)
        _place(handle, np.array(body.pose))
        color = palette.OBJECT if body.moves else palette.AROUND
        shape = self._server.scene.add_mesh_simple(
            f"/around/{body.name}/shape",
            np.asarray(mesh.vertices, dtype=np.float32),
            np.asarray(mesh.faces, dtype=np.uint32),
            color=color,
            opacity=None if body.moves else palette.AROUND_OPACITY,
            flat_shading=True,
        )
        self.shapes[body.name] = [(shape, color)]
        T = pin.XYZQUATToSE3(np.array(body.pose))
        heights = (np.asarray(mesh.vertices) @ T.rotation.T + T.translation)[:, 2]
        if not body.moves:
            self.lowest = min(self.lowest, float(heights.min()))
        # over what of a large body is near the robot: its middle may be out of sight
        nearest = np.clip(T.actInv(self._base), *mesh.bounds)
        place = T.act(0.5 * (nearest + mesh.bounds.mean(axis=0)))
        place[2] = heights.max()
        self._add_name(body.name, T.actInv(place))

    def _add_unknown(self, name: str) -> viser.FrameHandle:
        handle = self._add_frame(name, has_axes=True)
        self._moving.add(name)
        self._add_name(name, np.zeros(3))
        return handle

    def _add_frame(self, name: str, *, has_axes: bool) -> viser.FrameHandle:
        handle = self._server.scene.add_frame(
            f"/around/{name}",
            show_axes=has_axes,
            axes_length=_AXES,
            axes_radius=_AXES / 20,
        )
        self._handles[name] = handle
        return handle

    def _add_name(self, name: str, position: Vec) -> None:
        self._server.scene.add_label(
            f"/around/{name}/name", name, position=position, anchor="bottom-center"
        )


def make_mesh(body: SceneBody) -> trimesh.Trimesh:
    """Return a body's mesh."""
    create, size = trimesh.creation, body.size
    if body.shape == "box":
        return create.box(extents=size)
    if body.shape == "sphere":
        return create.icosphere(subdivisions=3, radius=size[0])
    if body.shape == "cylinder":
        return create.cylinder(size[0], size[1], sections=40)
    if body.shape == "capsule":
        mesh = create.capsule(size[1], size[0])
        mesh.apply_translation([0.0, 0.0, -float(mesh.bounds.mean(axis=0)[2])])
        return mesh
    ground = create.box(extents=_GROUND)
    ground.apply_translation([0.0, 0.0, -0.5 * _GROUND[2]])
    return ground


def _place(handle: viser.FrameHandle, row: Vec) -> None:
    x, y, z, w = row[3:]
    wxyz = np.array([w, x, y, z])
    is_turned = 1.0 - abs(float(np.dot(handle.wxyz, wxyz))) > _STILL**2
    if is_turned or np.abs(handle.position - row[:3]).max() > _STILL:
        handle.position, handle.wxyz = row[:3], wxyz
