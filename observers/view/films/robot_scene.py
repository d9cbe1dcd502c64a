"""Scene of a film."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from paprle.contracts.film import Film
from paprle.contracts.proximity import FindNear
from paprle.contracts.scene_body import SceneBody
from paprle.contracts.session_view import SessionView
from paprle.contracts.types import RobotInfo
from paprle.observers.view.snapshots import copy_arrays
from paprle.observers.view.view_json import Shown
from paprle.observers.view.viser_proxy import Relay

_TRAIL = 300  # chosen: points of a path, ten seconds at 30 Hz


class RobotScene:
    """Draws one film at a time."""

    def __init__(self, relay: Relay, warn: Callable[[str], None]) -> None:
        self.n_drawn = 0
        self._relay, self._warn = relay, warn
        self._lock = threading.Lock()
        self._painter = ThreadPoolExecutor(1, thread_name_prefix="scene")
        self._scene: Any = None
        self._film: Film | None = None
        self._t = 0.0
        self._key: tuple[object, ...] = ()
        self._find_near: FindNear | None = None
        self._shown: Shown | None = None

    def put(self, film: Film) -> bool:
        """Draw a film's robot, if any; return success."""
        robot = film.robot
        if robot is None:
            return False
        bodies = tuple(film.list_bodies())
        key = (robot.name, robot.urdf_path.read_bytes(), bodies)
        with self._lock:
            self._film, self._t = film, 0.0
            self._shown, self._find_near = Shown(robot), film.find_near()
            if key != self._key:
                self._key = key
                self._close()  # it is of another robot
                self._painter.submit(self._draw, robot, bodies, key)
        return True

    def move(self, film: Film, t: float) -> dict[str, Any]:
        """Draw a film at a time [s]; return JSON values.

        Returns:
            The session's state and ``scene``, the scene's number; 0: not there yet.
        """
        if film is not self._film:  # of another tab
            self.put(film)
        with self._lock:
            self._t = t
            view = film.look(t)
            self._show(view)
            state = {} if self._shown is None else self._shown.make(view)
            number = 0 if self._scene is None else self.n_drawn
            return {**state, "scene": number}

    def close(self) -> None:
        """Stop drawing."""
        self._painter.shutdown(cancel_futures=True)
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._scene is not None:
            self._scene.close()
            self._scene = None

    def _draw(
        self, info: RobotInfo, bodies: Sequence[SceneBody], key: tuple[object, ...]
    ) -> None:
        try:
            # loaded with the first film of a robot: viser and trimesh are large
            from paprle.observers.view.drawing.bodies import Robot  # noqa: PLC0415
            from paprle.observers.view.scene import Scene  # noqa: PLC0415

            robot = Robot(info)
            scene = Scene(info, robot, None, _TRAIL, bodies)
            self._relay.guard(scene.server)
        except Exception as err:  # noqa: BLE001 - plots and cameras do without it
            self._warn(f"view: no picture of the robot: {err}")
            return
        with self._lock:
            if key != self._key:  # another robot was put meanwhile
                scene.close()
                return
            self._scene = scene
            self.n_drawn += 1
            if self._film is not None and self._film.robot is not None:
                self._show(self._film.look(self._t))
        if robot.note:
            self._warn(f"view: {robot.note}")

    def _show(self, view: SessionView) -> None:
        if self._scene is None:
            return
        arrays = copy_arrays(view)
        targets: Mapping[str, Any] = {
            n: np.array(row) for n, row in view.targets.items()
        }
        self._scene.follow(arrays["q"])
        self._scene.show(arrays["q"], arrays["q_asked"], targets)
        self._scene.show_objects({n: np.array(r) for n, r in view.objects.items()})
        near: Any = ()
        if self._find_near is not None:
            try:
                near = self._find_near(arrays["q"])
            except Exception as err:  # noqa: BLE001 - likewise
                self._find_near = None
                self._warn(f"view: clearances are not shown: {err}")
        self._scene.show_felt(arrays["q"], arrays["tau"], near)
