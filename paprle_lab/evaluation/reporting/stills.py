"""The robot at instants of its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin
from mpl_toolkits.mplot3d import art3d  # type: ignore[import-untyped]

from paprle.contracts.types import RobotInfo, Vec
from paprle.robot.tree import Primitive, Urdf
from paprle_lab.evaluation.limb import LimbResult

N_STILLS = 5  # chosen: as many as stand beside each other on a page
N_AROUND = 14  # chosen: faces around a round body; more are not seen at this size
ROD = 0.012  # chosen: radius of a rod, as a share of the robot's size
LEAST_ROD = 1e-6  # [m] chosen: shorter links have no rod
LIGHT = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
SHADES = (np.array([0.62, 0.66, 0.71]), np.array([0.93, 0.94, 0.96]))
"""Colours of faces turned from the light and to it."""
ELEVATION, BESIDE = (
    18.0,
    65.0,
)  # [°] chosen: from above, and beside where the arm points

Face = npt.NDArray[np.float64]  # (k, 3) corners in order, [m]


class Still(NamedTuple):
    """One instant.

    Attributes:
        t: [s].
        q: Measured joints, shape (n,), [rad].
        row: Of the limb's samples.
    """

    t: float
    q: Vec
    row: int


def choose_stills(
    limb: LimbResult, t_meas: Vec, q_meas: Vec, n: int = N_STILLS
) -> list[Still]:
    """Return n instants evenly spaced along a limb's path.

    ``t_meas``: shape (M,), [s]; ``q_meas``: (M, n), [rad].
    """
    steps = np.linalg.norm(np.diff(limb.actual.p, axis=0), axis=1)
    way = np.concatenate([[0.0], np.cumsum(steps)])
    rows = np.searchsorted(way, np.linspace(0.0, way[-1], n))
    rows = np.unique(np.clip(rows, 0, len(way) - 1))
    at = np.clip(np.searchsorted(t_meas, limb.actual.t[rows]), 0, len(t_meas) - 1)
    return [
        Still(float(limb.actual.t[row]), q_meas[k], int(row))
        for row, k in zip(rows, at, strict=True)
        if np.isfinite(q_meas[k]).all()
    ]


def draw_stills(
    figure: Any,
    stills: Sequence[Still],
    robot: tuple[Urdf, RobotInfo],
    limb: LimbResult,
    colours: tuple[Any, Any],
    labels: Sequence[str] = (),
) -> None:
    """Draw a robot at instants, with the path to each.

    ``colours``: colour map and norm of errors [mm].
    """
    urdf, info = robot
    base = place_links(urdf, info, stills[0].q)[_find_base(info, limb.name)]
    path = limb.actual.p @ base.rotation.T + base.translation
    target = limb.target.p @ base.rotation.T + base.translation
    drawn = [list(make_faces(urdf, place_links(urdf, info, one.q))) for one in stills]
    corners = np.vstack([face for faces in drawn for face in faces] + [path])
    low, high = corners.min(axis=0), corners.max(axis=0)
    azimuth = _choose_azimuth(path.mean(axis=0) - base.translation)
    panels = zip(stills, drawn, strict=True)
    for k, (still, faces) in enumerate(panels):
        width = 1.0 / len(stills)
        # words of two lines need more room
        bottom, height = (0.02, 1.13) if labels else (-0.15, 1.3)
        place = (k * width - 0.15 * width, bottom, 1.3 * width, height)
        axes = figure.add_axes(place, projection="3d")
        axes.patch.set_alpha(0.0)  # panels overlap: a 3-D axis leaves wide margins
        axes.computed_zorder = False
        axes.add_collection3d(_shade(faces))
        axes.plot(*target.T, color="#9aa5b1", lw=0.6, zorder=2)
        _add_path(axes, path, limb.errors * 1e3, still.row, colours)
        axes.plot(*target[still.row, :, None], "+", color="#1f2933", ms=7, zorder=4)
        axes.auto_scale_xyz(*np.stack([low, high], axis=1))
        axes.set_box_aspect(np.maximum(high - low, 1e-3), zoom=1.1)
        axes.view_init(elev=ELEVATION, azim=azimuth)
        axes.set_axis_off()
        label = labels[k] if labels else f"{still.t:.1f} s"
        figure.text((k + 0.5) * width, 0.03, label, ha="center")


def draws_rods(urdf: Urdf) -> bool:
    """Return whether some links are drawn as rods."""
    return bool(urdf.mesh_links) or not urdf.primitives


def place_links(urdf: Urdf, info: RobotInfo, q: Vec) -> dict[str, pin.SE3]:
    """Return every link's pose in the root at q."""
    positions = info.name_positions(q)
    places = {urdf.root: pin.SE3.Identity()}
    for joint in urdf.joints:
        T_parent_child = joint.T_parent_child(positions.get(joint.name, 0.0))
        places[joint.child] = places[joint.parent] * T_parent_child
    return places


def make_faces(urdf: Urdf, places: Mapping[str, pin.SE3]) -> Iterator[Face]:
    """Yield the faces of all bodies in the root."""
    for body in urdf.primitives:
        T = places[body.link] * body.T_link_body
        for face in _make_body(body):
            yield face @ T.rotation.T + T.translation
    with_body = {body.link for body in urdf.primitives}
    origins = np.array([T.translation for T in places.values()])
    radius = ROD * float(np.linalg.norm(np.ptp(origins, axis=0)))
    for joint in urdf.joints:
        if joint.parent not in with_body:
            begin, end = places[joint.parent], places[joint.child]
            yield from _make_rod(begin.translation, end.translation, radius)


def _make_body(body: Primitive) -> Iterator[Face]:
    if body.shape == "box":
        yield from _make_box(np.array(body.size) / 2.0)
    elif body.shape == "sphere":
        yield from _turn(_bow(body.size[0], 0.0))
    elif body.shape == "capsule":
        yield from _turn(_bow(body.size[0], body.size[1] / 2.0))
    elif body.shape == "cylinder":
        radius, half = body.size[0], body.size[1] / 2.0
        outline = [[0.0, -half], [radius, -half], [radius, half], [0.0, half]]
        yield from _turn(np.array(outline))


def _make_box(half: Vec) -> Iterator[Face]:
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=np.float64)
    for axis in range(3):
        for side in (-1.0, 1.0):
            face = np.insert(square, axis, side, axis=1) * half
            yield face


def _bow(radius: float, half: float) -> Vec:
    """Return a capsule's outline (k, 2): radius and height."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, N_AROUND // 2 + 1)
    shift = np.where(angles < 0.0, -half, half)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles) + shift], axis=1)


def _turn(outline: Vec) -> Iterator[Face]:
    """Yield the faces of an outline (k, 2) revolved about z."""
    around = np.linspace(0.0, 2.0 * np.pi, N_AROUND + 1)
    ring = np.stack([np.cos(around), np.sin(around)], axis=1)
    for (r0, z0), (r1, z1) in zip(outline[:-1], outline[1:], strict=True):
        for a, b in zip(ring[:-1], ring[1:], strict=True):
            yield np.array([[*r0 * a, z0], [*r0 * b, z0], [*r1 * b, z1], [*r1 * a, z1]])


def _make_rod(begin: Vec, end: Vec, radius: float) -> Iterator[Face]:
    way = end - begin
    length = float(np.linalg.norm(way))
    if length < LEAST_ROD:
        return
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), way / length)
    for face in _turn(_bow(radius, length / 2.0)):
        yield face @ turn.matrix().T + (begin + end) / 2.0


def _shade(faces: Sequence[Face]) -> Any:
    across = np.array([np.cross(f[2] - f[0], f[3] - f[1]) for f in faces])
    normals = across / np.maximum(np.linalg.norm(across, axis=1), 1e-12)[:, None]
    share = (0.5 + 0.5 * normals @ LIGHT)[:, None]
    colours = SHADES[0] * (1.0 - share) + SHADES[1] * share
    return art3d.Poly3DCollection(
        faces, facecolors=colours, edgecolors=colours * 0.94, linewidths=0.2, zorder=1
    )


def _add_path(
    axes: Any, path: Vec, errors_mm: Vec, last: int, colours: tuple[Any, Any]
) -> None:
    if last < 1:
        return
    step = max(1, last // 400)  # chosen: more pieces are not seen at this size
    points = path[: last + 1 : step]
    pieces = np.stack([points[:-1], points[1:]], axis=1)
    lines = art3d.Line3DCollection(
        pieces, cmap=colours[0], norm=colours[1], linewidths=1.8, zorder=3
    )
    lines.set_array(errors_mm[: last + 1 : step][:-1])
    axes.add_collection3d(lines)


def _choose_azimuth(ahead: Vec) -> float:
    return float(np.degrees(np.arctan2(ahead[1], ahead[0]))) - BESIDE


def _find_base(info: RobotInfo, limb: str) -> str:
    return next(one.base_link for one in info.limbs if one.name == limb)
