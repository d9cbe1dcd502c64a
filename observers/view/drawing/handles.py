"""Transform handles of limbs."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin
import viser

from paprle.contracts.types import LimbInfo, Vec
from paprle.observers.view.drawing.bodies import Robot
from paprle.observers.view.panel import Panel

Listener = Callable[[Any], Coroutine[Any, Any, None]]
"""Of what is dragged: awaited by viser, so that its calls keep their order."""
_SCALE = 0.16  # [m] chosen: as long as a hand, and drawn before it
_GRASP = 0.3  # [s] chosen: what is being dragged is not put elsewhere meanwhile


class Handles:
    """Arrows and rings, at the hands unless the dead-man is held."""

    def __init__(
        self,
        server: viser.ViserServer,
        robot: Robot,
        limbs: Mapping[str, LimbInfo],
        panel: Panel,
    ) -> None:
        self._robot, self._limbs, self._panel = robot, limbs, panel
        self._T_world_base: dict[str, pin.SE3] = {}
        self._eefs: dict[str, Vec] = {}
        self._drawn: dict[str, Vec] = {}
        self._dragged: dict[str, float] = {}
        self._handles = {
            name: server.scene.add_transform_controls(
                f"/drag/{name}", scale=_SCALE, depth_test=False, visible=False
            )
            for name in limbs
        }
        for name, handle in self._handles.items():
            handle.on_update(self._make_listener(name))
        panel.find_eef = self._eefs.copy

    def offer(self, limbs: Sequence[str]) -> None:
        """Show handles of these limbs."""
        for name, limb in self._limbs.items():
            T_world_base = self._robot.find(limb.base_link)
            T_base_eef = T_world_base.inverse() * self._robot.find(limb.eef_link)
            self._T_world_base[name] = T_world_base
            self._eefs[name] = np.asarray(pin.SE3ToXYZQUAT(T_base_eef))
            handle = self._handles[name]
            is_offered = name in limbs
            if handle.visible != is_offered:
                handle.visible = is_offered
            if is_offered:
                self._place(name, T_world_base)

    def _place(self, name: str, T_world_base: pin.SE3) -> None:
        held = self._panel.is_held
        if held and time.monotonic() - self._dragged.get(name, -1.0) < _GRASP:
            return
        row = self._panel.get_pose(name) if held else self._eefs[name]
        T = T_world_base * pin.XYZQUATToSE3(row)
        x, y, z, w = pin.Quaternion(T.rotation).coeffs()
        placed = np.array([*T.translation, w, x, y, z])
        before = self._drawn.get(name)
        if before is None or np.abs(before - placed).max() > 1e-5:
            self._drawn[name] = placed
            handle = self._handles[name]
            handle.position, handle.wxyz = placed[:3], placed[3:]

    def _make_listener(self, name: str) -> Listener:
        async def listen(event: viser.TransformControlsEvent) -> None:
            T_world_base = self._T_world_base.get(name)
            if T_world_base is None:
                return
            if not self._panel.is_held:
                self._panel.note_vain_drag()
                self._drawn.pop(name, None)  # it goes back to the hand
                return
            w, x, y, z = event.target.wxyz
            rotation = pin.Quaternion(w, x, y, z).toRotationMatrix()
            T_world_hand = pin.SE3(rotation, np.array(event.target.position))
            self._drawn[name] = np.array([*event.target.position, w, x, y, z])
            self._dragged[name] = time.monotonic()
            row = pin.SE3ToXYZQUAT(T_world_base.inverse() * T_world_hand)
            self._panel.drag(name, np.asarray(row))

        return listen
