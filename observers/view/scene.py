"""The 3-D scene."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import rich
import viser

from paprle.contracts.kit.motion_cues import CueSettings
from paprle.contracts.plugins import SessionView
from paprle.contracts.proximity import Near
from paprle.contracts.reality_levels import EVERYTHING, Parts
from paprle.contracts.scene_body import SceneBody
from paprle.contracts.types import RobotInfo, Vec
from paprle.observers.view.drawing import palette
from paprle.observers.view.drawing.bodies import Color, Robot
from paprle.observers.view.drawing.cues import Cues
from paprle.observers.view.drawing.drag_arrows import Carried
from paprle.observers.view.drawing.forces import Forces
from paprle.observers.view.drawing.frusta import Frusta
from paprle.observers.view.drawing.handles import Handles
from paprle.observers.view.drawing.held_reason import HeldReason
from paprle.observers.view.drawing.proximity_colours import Nearness
from paprle.observers.view.drawing.specimens import add_specimens
from paprle.observers.view.drawing.surroundings import Surroundings
from paprle.observers.view.panel import Panel
from paprle.observers.view.thumbnails import Album

_LINES: Color = (140, 148, 160)  # chosen: seen on white, and on a dark page
_CELL, _SECTION = 0.1, 0.5  # [m] chosen: a hand, and an arm's reach
_STILL = 1e-4  # chosen: no pixel moves by less [m] or [rad]
_TRAIL_STEP = 2e-3  # [m] chosen: a point of the trail
_TRAIL_JUMP = 0.3  # [m] chosen: no hand moves so far between two pictures
_TRAIL_WIDTH = 0.004  # [m] chosen: seen beside an arm
_AXES = 0.07  # [m] chosen: as long as a finger
_SMALL = 0.8  # chosen: a name that stands at a hand
_FROM = np.array([0.8, 1.2, 0.6])  # chosen: an arm reaches away from the words
_AMBIENT = 1.1  # chosen: the dark side of a link is still seen
_NEAR = 0.006  # [m] chosen: a ghost that is nearer to the robot only flickers
_DISTANCE = 1.6  # chosen: sizes of the robot that the camera is away
_FOV = 0.7  # [rad] chosen: little perspective
_TITLE = "PAPRLE"
_ROOTS = {
    "environment": ("/around",),
    "robot": ("/robot", "/ghost", "/predicted"),
    "cues": ("/cues",),
}
"""Nodes of the picture by what of ``Parts`` draws them."""
Quat = tuple[float, float, float, float]


class Outlook(NamedTuple):
    """Initial camera: world points (3,), [m]; vertical fov, [rad]."""

    look_at: Vec
    position: Vec
    fov: float


class Scene:
    """The scene of one robot."""

    def __init__(
        self,
        info: RobotInfo,
        robot: Robot,
        panel: Panel | None,
        max_points: int,
        bodies: Sequence[SceneBody] = (),
    ) -> None:
        self._robot = robot
        self._cues: Cues | None = None
        self._parts = EVERYTHING
        self._limbs = {limb.name: limb for limb in info.limbs}
        rich.reconfigure(quiet=True)  # viser's banner would go across the status line
        self._server = viser.ViserServer("127.0.0.1", 0, _TITLE, verbose=False)
        self._server.gui.configure_theme(
            show_logo=False,
            show_share_button=False,
        )
        self._server.gui.main_panel.minimize()  # the page around it has all words
        robot.move(info.home)
        base = robot.find(info.limbs[0].base_link).translation
        self._around = Surroundings(self._server, bodies, base)
        self._add_floor(self._around.lowest)
        self._shapes = dict(self._around.shapes)
        self._real = self._add_robot("/robot", 1.0, None)
        self._ghost = self._add_robot("/ghost", palette.GHOST_OPACITY, palette.GHOST)
        self._nearness = Nearness(self._server, self._shapes)
        self._forces = Forces(self._server, robot, info.limbs)
        self._held = HeldReason(self._server, robot, info)
        self._frusta = Frusta(self._server, robot)
        self._predicted: dict[int, viser.FrameHandle] = {}
        self._asked = {
            name: self._server.scene.add_frame(
                f"/asked/{name}",
                axes_length=_AXES,
                axes_radius=_AXES / 20,
                visible=False,
            )
            for name in self._limbs
        }
        for name in self._limbs:  # one is seen where its frame is
            told = f"target of {name}"
            self._server.scene.add_label(
                f"/asked/{name}/name", told, font_screen_scale=_SMALL
            )
        self._trails = {
            name: _Trail(self._server, f"/trail/{name}", max_points)
            for name in self._limbs
        }
        scene = self._server.scene  # what lies below a frame is seen where it is
        self._roots = {
            part: [scene.add_frame(name, show_axes=False) for name in names]
            for part, names in _ROOTS.items()
        }
        add_specimens(self._server, base)
        self._handles: Handles | None = None
        self._carried: Carried | None = None
        if panel is not None:
            self._carried = Carried(self._server, panel)
            self._handles = Handles(self._server, robot, self._limbs, panel)

    @property
    def server(self) -> viser.ViserServer:
        """The scene's server."""
        return self._server

    @property
    def is_watched(self) -> bool:
        """Whether a browser shows the scene."""
        return bool(self._server.get_clients())

    def show(self, q: Vec, q_asked: Vec, targets: Mapping[str, Vec]) -> None:
        """Move robot and ghost to measured and requested positions (n,).

        ``targets`` are T_base_eef, xyz + quat_xyzw; NaN: joints.
        """
        with self._server.atomic():
            asked = self._robot.move(np.where(np.isnan(q_asked), q, q_asked))
            poses = self._robot.move(q)
            for joint, handle in self._ghost.items():
                _place(handle, asked[joint])
                apart = _measure_apart(asked[joint], poses[joint])
                handle.visible = apart > _NEAR
            for joint, handle in self._real.items():
                _place(handle, poses[joint])
            for name, limb in self._limbs.items():
                self._trails[name].draw()
                row, handle = targets[name], self._asked[name]
                handle.visible = bool(np.isfinite(row).all())
                if handle.visible:
                    T_base_asked = pin.XYZQUATToSE3(row)
                    _place(handle, self._robot.find(limb.base_link) * T_base_asked)

    def show_felt(self, q: Vec, tau: Vec, near: Sequence[Near], held: str = "") -> None:
        """Draw near bodies, forces and the reason of a hold.

        ``q`` and ``tau`` are (n,), efforts in [N·m] or [N], NaN: none; ``near`` is
        sorted.
        """
        with self._server.atomic():
            self._nearness.show(near)
            self._held.show(held, near)
            self._forces.show(q, tau)

    def show_cameras(self, album: Album) -> None:
        """Draw camera pictures."""
        with self._server.atomic():
            self._frusta.show(dict(album.shots), album.cameras)

    def show_objects(self, objects: Mapping[str, Vec]) -> None:
        """Draw objects at T_world_object, xyz + quat_xyzw."""
        with self._server.atomic():
            self._around.show(objects)
            if self._carried is not None:
                self._carried.show(objects)

    def show_predicted(self, q: Vec) -> None:
        """Move the predicted robot to q (n,)."""
        if not self._predicted:
            self._predicted = self._add_robot(
                "/predicted", palette.GHOST_OPACITY, palette.PREDICTED
            )
        with self._server.atomic():
            poses = self._robot.move(q)
            for joint, handle in self._predicted.items():
                _place(handle, poses[joint])

    def follow(self, q: Vec) -> None:
        """Extend the trails at q (n,)."""
        self._robot.move(q)
        for name, limb in self._limbs.items():
            self._trails[name].add(self._robot.find(limb.eef_link).translation)

    def add_cues(self, settings: CueSettings) -> None:
        """Enable motion cues."""
        self._cues = Cues(self._server, self._robot, self._limbs.values(), settings)

    def show_cues(self, view: SessionView) -> None:
        """Draw a view's cues."""
        if self._cues is not None:
            with self._server.atomic():
                self._cues.show(view)

    def show_parts(self, parts: Parts) -> None:
        """Draw a level's parts."""
        if parts == self._parts:
            return
        self._parts = parts
        with self._server.atomic():
            for part, handles in self._roots.items():
                for handle in handles:
                    handle.visible = bool(getattr(parts, part))

    def offer(self, limbs: Sequence[str]) -> None:
        """Make these limbs draggable."""
        if self._handles is not None:
            self._handles.offer(limbs)

    def close(self) -> None:
        """Stop the server."""
        self._server.stop()

    def _add_floor(self, lowest: float) -> None:
        low, high = self._robot.measure()
        size = float(np.linalg.norm(high - low))
        floor = min(0.0, float(low[2]), lowest)
        self._server.scene.set_up_direction("+z")
        self._server.scene.configure_environment_map(None)  # it washes colours out
        self._server.scene.add_light_ambient("/light", intensity=_AMBIENT)
        # the relay has them cast for browsers with a graphics card
        self._server.scene.configure_default_lights(cast_shadow=False)
        self._server.scene.add_grid(
            "/floor",
            infinite_grid=True,
            cell_size=_CELL,
            section_size=_SECTION,
            cell_color=_LINES,
            section_color=_LINES,
            cell_thickness=0.5,
            fade_distance=12.0 * size,
            position=(0.0, 0.0, floor - 1e-3),
        )
        outlook, camera = find_outlook(low, high), self._server.initial_camera
        camera.look_at, camera.position = outlook.look_at, outlook.position
        camera.fov = outlook.fov

    def _add_robot(
        self, root: str, opacity: float, color: Color | None
    ) -> dict[int, viser.FrameHandle]:
        scene = self._server.scene
        joints = sorted({body.joint for body in self._robot.bodies})
        names = {joint: f"{root}/{joint}" for joint in joints}
        frames = {j: scene.add_frame(names[j], show_axes=False) for j in joints}
        is_ghost = color is not None
        for k, body in enumerate(self._robot.bodies):
            shape = scene.add_mesh_simple(
                f"{names[body.joint]}/{k}",
                body.vertices.astype(np.float32),
                body.faces.astype(np.uint32),
                color=color or body.color,
                opacity=opacity if is_ghost else None,
                flat_shading=False,
                cast_shadow=not is_ghost,
                receive_shadow=not is_ghost,
            )
            if not is_ghost:
                self._shapes.setdefault(body.link, []).append((shape, body.color))
        return frames


def find_outlook(low: Vec, high: Vec) -> Outlook:
    """Return a view of a box of world corners (3,), [m]."""
    away = _DISTANCE * float(np.linalg.norm(high - low))
    centre = (low + high) / 2
    return Outlook(centre, centre + away * _FROM / np.linalg.norm(_FROM), _FOV)


def _place(handle: viser.FrameHandle, T: pin.SE3) -> None:
    x, y, z, w = pin.Quaternion(T.rotation).coeffs()
    wxyz = np.array([w, x, y, z])
    is_turned = 1.0 - abs(float(np.dot(handle.wxyz, wxyz))) > _STILL**2
    if is_turned or np.abs(handle.position - T.translation).max() > _STILL:
        handle.position, handle.wxyz = T.translation, wxyz


def _measure_apart(T_world_a: pin.SE3, T_world_b: pin.SE3) -> float:
    """Return the distance of frames [m], rotation included."""
    moved = np.linalg.norm(T_world_a.translation - T_world_b.translation)
    turned = np.linalg.norm(T_world_a.rotation - T_world_b.rotation)
    return float(moved + _AXES * turned)


class _Trail:
    def __init__(self, server: viser.ViserServer, name: str, max_points: int) -> None:
        self._points: deque[Vec] = deque(maxlen=max(max_points, 2))
        self._is_shown = max_points > 0
        self._is_new = False
        self._line = server.scene.add_line_segments(
            name,
            np.zeros((1, 2, 3), dtype=np.float32),
            palette.TRAIL,
            thickness=_TRAIL_WIDTH,
            visible=False,
        )

    def add(self, point: Vec) -> None:
        last = self._points[-1] if self._points else None
        step = np.inf if last is None else float(np.linalg.norm(point - last))
        if step > _TRAIL_JUMP:
            self._points.clear()  # of a film that was wound on
        if step > _TRAIL_STEP:
            self._points.append(point)
            self._is_new = self._is_shown and len(self._points) > 1

    def draw(self) -> None:
        if not self._is_new:
            return
        self._is_new = False
        points = np.array(self._points, dtype=np.float32)
        segments = np.stack([points[:-1], points[1:]], axis=1)
        self._line.points = segments
        self._line.visible = True
