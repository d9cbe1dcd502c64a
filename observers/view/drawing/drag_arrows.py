"""Drag handles of placed objects."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

import numpy as np
import viser

from paprle.contracts.types import Vec
from paprle.observers.view.panel import Panel

Listener = Callable[[Any], Coroutine[Any, Any, None]]
_SCALE = 0.1  # [m] chosen: less than that of a hand
_GRASP = 0.5  # [s] chosen: until what was dragged comes back from the session
_STILL = 1e-4  # [m] chosen: no pixel moves by less


class Carried:
    """Three arrows at each placeable object."""

    def __init__(self, server: viser.ViserServer, panel: Panel) -> None:
        self._server, self._panel = server, panel
        self._handles: dict[str, viser.TransformControlsHandle] = {}
        self._dragged: dict[str, float] = {}

    def show(self, objects: Mapping[str, Vec]) -> None:
        """Show arrows at T_world_object, xyz + quat_xyzw."""
        here = {n: objects[n][:3] for n in self._panel.placeable if n in objects}
        self._hide(self._handles.keys() - here.keys())
        for name, p in here.items():
            handle = self._handles.get(name) or self._add(name)
            handle.visible = True
            is_held = time.monotonic() - self._dragged.get(name, -_GRASP) < _GRASP
            if not is_held and np.abs(handle.position - p).max() > _STILL:
                handle.position = p

    def _hide(self, names: Iterable[str]) -> None:
        for name in names:
            self._handles[name].visible = False

    def _add(self, name: str) -> viser.TransformControlsHandle:
        handle = self._server.scene.add_transform_controls(
            f"/carry/{name}", scale=_SCALE, disable_rotations=True, depth_test=False
        )
        handle.on_update(self._make_listener(name))
        self._handles[name] = handle
        return handle

    def _make_listener(self, name: str) -> Listener:
        async def listen(event: viser.TransformControlsEvent) -> None:
            self._dragged[name] = time.monotonic()
            self._panel.carry(name, np.array(event.target.position))

        return listen
