"""Ghost, waypoints and arrows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pinocchio as pin
import viser

from paprle.contracts.kit.motion_cues import (
    COLOURS,
    CueReader,
    CueRole,
    CueSettings,
    MotionCue,
)
from paprle.contracts.plugins import SessionView
from paprle.contracts.types import LimbInfo, Vec
from paprle.observers.view.drawing.bodies import Body, Robot

_GHOST_OPACITY = 0.35  # chosen: the hand itself is seen through it
_SHAFT, _HEAD, _HEAD_LENGTH = 0.006, 0.016, 0.03  # [m] chosen: seen beside a finger
_DOT = 0.02  # [m] chosen: a waypoint
_AHEAD = np.array([0.0, 0.16, 0.6])  # [m] chosen: low in the view; its axes: OpenCV


class Cues:
    """The cues of all limbs."""

    def __init__(
        self,
        server: viser.ViserServer,
        robot: Robot,
        limbs: Iterable[LimbInfo],
        settings: CueSettings,
    ) -> None:
        self._robot, self._limbs = robot, {limb.name: limb for limb in limbs}
        self._settings, self._server = settings, server
        is_fixed = settings.attached == "world"
        self._readers = {
            name: CueReader(name, is_fixed=is_fixed) for name in self._limbs
        }
        self._drawn = {
            (name, role): _Drawn(server, robot, limb, role, settings)
            for name, limb in self._limbs.items()
            for role in COLOURS
        }

    def show(self, view: SessionView) -> None:
        """Draw a view's cues."""
        for name, limb in self._limbs.items():
            T_world_eef = self._robot.find(limb.eef_link)
            cues = self._readers[name].read(view, T_world_eef)
            told = {cue.role: cue for cue in cues}
            for role in COLOURS:
                cue = told.get(role)
                if cue is not None and self._settings.attached == "view":
                    cue = self._bring_into_view(cue, T_world_eef)
                self._drawn[name, role].show(cue)

    def _bring_into_view(self, cue: MotionCue, T_world_eef: pin.SE3) -> MotionCue:
        for client in self._server.get_clients().values():
            x, y, z, w = np.roll(client.camera.wxyz, -1)
            R = pin.Quaternion(w, x, y, z).toRotationMatrix()
            moved = client.camera.position + R @ _AHEAD - T_world_eef.translation
            path = cue.path.copy()
            path[:, :3] += moved
            return cue._replace(path=path, arrow=cue.arrow + moved, arc=cue.arc + moved)
        return cue


class _Drawn:
    def __init__(
        self,
        server: viser.ViserServer,
        robot: Robot,
        limb: LimbInfo,
        role: CueRole,
        settings: CueSettings,
    ) -> None:
        self._settings = settings
        root = f"/cues/{limb.name}/{role}"
        colour = tuple(round(255 * part) for part in COLOURS[role])
        segment = np.zeros((1, 2, 3), dtype=np.float32)
        look = {
            "shaft_radius": _SHAFT,
            "head_radius": _HEAD,
            "head_length": _HEAD_LENGTH,
            "visible": False,
        }
        self._arrow = server.scene.add_arrows(f"{root}/way", segment, colour, **look)
        self._tip = server.scene.add_arrows(f"{root}/turn", segment, colour, **look)
        self._arc = server.scene.add_line_segments(
            f"{root}/arc", segment, colour, thickness=2 * _SHAFT, visible=False
        )
        self._dots = server.scene.add_point_cloud(
            f"{root}/waypoints",
            np.zeros((1, 3), dtype=np.float32),
            colour,
            point_size=_DOT,
            point_shape="circle",
            visible=False,
        )
        self._ghost = server.scene.add_frame(f"{root}/ghost", show_axes=False)
        self._ghost.visible = False
        T_eef_world = robot.find(limb.eef_link).inverse()
        if role == "suggested" and settings.ghost:
            for number, (T, body) in enumerate(robot.list_hand(limb.eef_link)):
                _add_body(server, f"{root}/ghost/{number}", T_eef_world * T, body, role)

    def show(self, cue: MotionCue | None) -> None:
        s = self._settings
        self._ghost.visible = cue is not None and s.ghost
        self._dots.visible = cue is not None and s.waypoints
        self._arrow.visible = cue is not None and s.arrows and len(cue.arrow) > 0
        has_turn = cue is not None and s.arrows and len(cue.arc) > 0
        self._arc.visible = self._tip.visible = has_turn
        if cue is None:
            return
        x, y, z, w = cue.path[-1, 3:]
        self._ghost.position, self._ghost.wxyz = cue.path[-1, :3], (w, x, y, z)
        if s.waypoints:
            self._dots.points = cue.path[1:, :3].astype(np.float32)
        if self._arrow.visible:
            self._arrow.points = cue.arrow[None].astype(np.float32)
        if has_turn:
            self._draw_turn(cue.arc)

    def _draw_turn(self, arc: Vec) -> None:
        points = arc.astype(np.float32)
        self._arc.points = np.stack([points[:-1], points[1:]], axis=1)
        along = points[-1] - points[-2]
        along *= 1.1 * _HEAD_LENGTH / np.linalg.norm(along)
        self._tip.points = np.stack([points[-1] - 0.1 * along, points[-1] + along])[
            None
        ]


def _add_body(
    server: viser.ViserServer, name: str, T: pin.SE3, body: Body, role: CueRole
) -> None:
    x, y, z, w = pin.Quaternion(T.rotation).coeffs()
    colour: Sequence[int] = [round(255 * part) for part in COLOURS[role]]
    server.scene.add_mesh_simple(
        name,
        body.vertices.astype(np.float32),
        body.faces.astype(np.uint32),
        color=(colour[0], colour[1], colour[2]),
        opacity=_GHOST_OPACITY,
        flat_shading=False,
        cast_shadow=False,
        receive_shadow=False,
        position=T.translation,
        wxyz=(w, x, y, z),
    )
