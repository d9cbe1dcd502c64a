"""Robot shapes and poses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin
import trimesh

from paprle.contracts.types import LimbInfo, RobotInfo, Vec
from paprle.contracts.urdf import maker_meshes
from paprle.contracts.urdf.mesh_units import read_unit
from paprle.contracts.urdf.models import complete_limits, make_pin_model

Color = tuple[int, int, int]

_PLAIN = (0.9, 0.9, 0.9, 1.0)  # spec: pinocchio, of a visual without a material
_GREYS: tuple[Color, ...] = ((236, 238, 242), (150, 158, 172))
_STICK = 0.02  # [m] chosen: radius of a limb of which only the joints are known
_SHORTEST = 1e-3  # [m] chosen: two joints nearer than this need no stick
_LEVELS = 4  # chosen: folders above a URDF in which packages are looked for


class Body(NamedTuple):
    """A shape on a joint.

    Attributes:
        vertices: In the joint's frame, shape (v, 3), [m].
        faces: Shape (f, 3).
    """

    joint: int
    link: str
    vertices: Vec
    faces: npt.NDArray[np.int64]
    color: Color


class Robot:
    """Shapes and joints of a robot; joint 0 is the world."""

    def __init__(self, info: RobotInfo) -> None:
        """Read the URDF.

        Raises:
            ValueError: If invalid.
        """
        self._info = info
        self._model = make_pin_model(info.urdf_path)
        self._data = self._model.createData()
        self.joint_names = tuple(self._model.names)
        self.note = ""
        self.bodies = self._show_maker(self._read_bodies())

    def move(self, q: Vec) -> list[pin.SE3]:
        """Return T_world_joint of every joint at q (n,), [rad] or [m]."""
        pin.framesForwardKinematics(self._model, self._data, self._expand(q))
        return [T.copy() for T in self._data.oMi]

    def find(self, link: str) -> pin.SE3:
        """Return T_world_link at the last move."""
        return self._data.oMf[self._model.getFrameId(link)].copy()

    def find_joint(self, joint: str) -> pin.SE3:
        """Return T_world_joint at the last move."""
        return self._data.oMi[self._model.getJointId(joint)].copy()

    def has_link(self, link: str) -> bool:
        """Return whether a link exists."""
        return bool(self._model.existFrame(link))

    def weigh(self, limb: LimbInfo, q: Vec, tau: Vec) -> tuple[Vec, Vec, Vec]:
        """Return the eef Jacobian (6, k), world axes, and efforts (k,), [N·m] or [N].

        The efforts are those of gravity and of ``tau``.
        """
        full, model, data = self._expand(q), self._model, self._data
        joints = [model.joints[model.getJointId(name)] for name in limb.joint_names]
        columns = [joint.idx_v for joint in joints]
        frame = model.getFrameId(limb.eef_link)
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        weight = pin.computeGeneralizedGravity(model, data, full)
        J = pin.computeFrameJacobian(model, data, full, frame, axes)
        efforts = dict(zip(self._info.joint_names, tau, strict=True))
        borne = np.array([efforts[name] for name in limb.joint_names])
        return J[:, columns], weight[columns], borne

    def list_hand(self, link: str) -> list[tuple[pin.SE3, Body]]:
        """Return T_world_joint and shape of bodies beyond a link."""
        root = self._model.frames[self._model.getFrameId(link)].parentJoint
        joints = set(self._model.subtrees[root])
        return [
            (self._data.oMi[body.joint].copy(), body)
            for body in self.bodies
            if body.joint in joints
        ]

    def measure(self) -> tuple[Vec, Vec]:
        """Return the bounding box's corners (3,), [m]."""
        moved = [
            body.vertices @ self._data.oMi[body.joint].rotation.T
            + self._data.oMi[body.joint].translation
            for body in self.bodies
        ]
        points = np.concatenate(moved) if moved else np.zeros((1, 3))
        return points.min(axis=0), points.max(axis=0)

    def _expand(self, q: Vec) -> Vec:
        full: Vec = pin.neutral(self._model)
        for name, position in self._info.name_positions(q).items():
            joint = self._model.joints[self._model.getJointId(name)]
            if joint.nq == 2:  # a continuous joint is a point on a circle
                full[joint.idx_q : joint.idx_q + 2] = np.cos(position), np.sin(position)
            else:
                full[joint.idx_q] = position
        return full

    def _read_bodies(self) -> list[Body]:
        path = self._info.urdf_path.resolve()
        folders = [str(folder) for folder in path.parents[:_LEVELS]]
        problem = ""
        for kind in (pin.GeometryType.VISUAL, pin.GeometryType.COLLISION):
            try:
                geometry = pin.buildGeomFromUrdfString(
                    self._model, complete_limits(path), kind, package_dirs=folders
                )
                bodies = [self._make_body(g) for g in geometry.geometryObjects]
            except (ValueError, OSError) as err:
                problem = problem or str(err).splitlines()[0]
                continue
            if bodies:
                self.note = f"shapes of contact in place of: {problem}" * bool(problem)
                return bodies
        self.note = f"sticks in place of: {problem}" * bool(problem)
        return list(self._make_sticks())

    def _show_maker(self, own: list[Body]) -> list[Body]:
        """Return bodies with the maker's meshes in place of those of their links."""
        try:
            maker = maker_meshes.read(
                maker_meshes.find_file(self._info.name), self._info
            )
        except (ValueError, OSError) as err:
            self.note = self.note or f"own bodies in place of the maker's meshes: {err}"
            maker = None
        if maker is None:
            return own
        bodies = [body for body in own if body.link not in maker.links]
        for mesh in maker.meshes:
            joint = int(self._model.getJointId(mesh.joint))
            grey = _GREYS[joint % len(_GREYS)]
            bodies.append(
                Body(joint, mesh.link, mesh.vertices, mesh.faces, mesh.color or grey)
            )
        return bodies

    def _make_body(self, geometry: Any) -> Body:
        mesh = _make_mesh(geometry)
        T = geometry.placement
        vertices = np.asarray(mesh.vertices) @ T.rotation.T + T.translation
        rgba = tuple(np.round(geometry.meshColor, 3).tolist())
        grey = _GREYS[geometry.parentJoint % len(_GREYS)]
        red, green, blue = (round(255 * part) for part in rgba[:3])
        color = grey if rgba == _PLAIN else (red, green, blue)
        faces = np.asarray(mesh.faces, dtype=np.int64)
        link = self._model.frames[geometry.parentFrame].name
        return Body(geometry.parentJoint, link, vertices, faces, color)

    def _make_sticks(self) -> Iterator[Body]:
        for joint in range(1, self._model.njoints):
            end = self._model.jointPlacements[joint].translation
            if np.linalg.norm(end) < _SHORTEST:
                continue
            segment = np.stack([np.zeros(3), end])
            mesh = trimesh.creation.cylinder(_STICK, segment=segment)
            parent = int(self._model.parents[joint])
            grey = _GREYS[parent % len(_GREYS)]
            frame = self._model.frames[self._model.getFrameId(self.joint_names[joint])]
            link = self._model.frames[frame.parentFrame].name
            vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
            yield Body(parent, link, vertices, faces, grey)


def _make_mesh(geometry: Any) -> trimesh.Trimesh:
    shape, create = geometry.geometry, trimesh.creation
    if geometry.meshPath and Path(geometry.meshPath).is_file():
        mesh = trimesh.load(geometry.meshPath, force="mesh")
        unit = read_unit(Path(geometry.meshPath))
        mesh.apply_scale(unit * np.asarray(geometry.meshScale).ravel())
        return mesh
    name = type(shape).__name__
    if name == "Box":
        return create.box(extents=2.0 * np.asarray(shape.halfSide).ravel())
    if name == "Sphere":
        return create.icosphere(subdivisions=3, radius=shape.radius)
    if name == "Cylinder":
        return create.cylinder(shape.radius, 2.0 * shape.halfLength, sections=40)
    if name == "Capsule":
        mesh = create.capsule(2.0 * shape.halfLength, shape.radius)
        mesh.apply_translation([0.0, 0.0, -float(mesh.bounds.mean(axis=0)[2])])
        return mesh
    raise ValueError(f"{geometry.name}: expected a shape or a mesh file, got {name}")
