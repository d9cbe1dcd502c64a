"""The observer: the newest view in, a page out.

Everything slow (reading meshes, loading what serves the page, sending to browsers) is
done by a thread of its own, at a lower priority, so that a session starts no later and
``observe`` only copies a few numbers.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from observers.view.config import ViewConfig
from observers.view.mirrored import copy_mirror, describe_mirror
from paprle.contracts.plugins import Advice, Clock, Observer, SessionView
from paprle.contracts.session_view import MirroredRobot
from paprle.contracts.types import RobotInfo, Vec

_NICE = 10  # chosen: a picture waits for whoever moves a robot
_N_PORTS = 20  # chosen: sessions beside each other on one machine
_SAY_EVERY = 0.25  # [s] chosen: faster than this nobody reads
_CLOSING = 1.0  # [s] chosen: browsers are told, and nobody waits for them
_MISSING = (
    "observers.view: expected viser and trimesh, got none; the session goes on without "
    "a page: pip install 'paprle[view]', or session.view=false"
)


class Shown(NamedTuple):
    """What of a view is shown, copied.

    Attributes:
        q: Measured.
        q_asked: Asked for.
        targets: T_base_eef asked for, by limb.
        state: The session's state.
        lines: What to know beside it.
        view: The whole of it, for cues; None: there are none.
        mirror: The robot as predicted, where it is far away.
    """

    q: Vec
    q_asked: Vec
    targets: dict[str, Vec]
    state: str
    lines: tuple[str, ...]
    view: SessionView | None
    mirror: MirroredRobot | None


class View(Observer):
    """Shows the session in a browser of this machine."""

    config: ViewConfig

    def __init__(self, config: ViewConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._port = 0
        self._newest: Shown | None = None
        self._told: list[str] = []
        self._stop, self._fresh = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def notes(self) -> Sequence[str]:
        """Where the page is."""
        return [f"see the robot at {_name_address(self._port)}"] if self._port else []

    def open(self) -> None:
        """Choose a port and begin to load; never fails, as nothing depends on it."""
        self._stop.clear()
        self._port = find_port(self.config.port)
        self._thread = threading.Thread(target=self._show, name="view", daemon=True)
        self._thread.start()

    def observe(self, view: SessionView) -> None:
        """Keep what is newest for the page."""
        q = view.q if np.isfinite(view.q).all() else view.q_cmd
        self._newest = Shown(
            np.array(q),
            np.array(view.q_des),
            {limb: np.array(row) for limb, row in view.targets.items()},
            view.state.name,
            tuple(_list_words(view)),
            copy_for_cues(view) if view.mappings else None,
            copy_mirror(view),
        )
        self._fresh.set()

    def take_warnings(self) -> Sequence[str]:
        """Return why there is no page, once."""
        told, self._told = self._told, []
        return told

    def close(self) -> None:
        """Serve the page no more; may be called twice."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_CLOSING)
            self._thread = None

    def _show(self) -> None:
        with contextlib.suppress(OSError):  # a machine may forbid it
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        try:
            # loaded here: it takes a second, which no start waits for
            from observers.view.bodies import Robot  # noqa: PLC0415
            from observers.view.scene import Scene, write_words  # noqa: PLC0415
        except ImportError:
            self._told.append(_MISSING)
            return
        try:
            robot = Robot(self.robot)
            max_points = round(self.config.trail * self.config.rate)
            scene = Scene(self.robot, robot, self._port, max_points)
            if self.config.cues is not None:
                scene.add_cues(self.config.cues)
        except Exception as err:  # noqa: BLE001 - a picture's failure is nobody else's
            self._told.append(f"observers.view: no page: {err}")
            return
        if robot.note:
            self._told.append(f"observers.view: {robot.note}")
        if scene.port != self._port:
            self._told.append(f"observers.view: at {_name_address(scene.port)}")
        try:
            self._update(scene, write_words)
        except Exception as err:  # noqa: BLE001 - likewise
            self._told.append(f"observers.view: the page stands still: {err}")
        finally:
            scene.close()

    def _update(self, scene: Any, write_words: Any) -> None:
        """Show what is newest until the session ends."""
        period, until_words = 1.0 / self.config.rate, 0.0
        while not self._stop.wait(period):
            self._fresh.clear()
            self._fresh.wait(
                period
            )  # drawn as soon as it is known: no phase of its own
            newest, until_words = self._newest, until_words - period
            if newest is None:
                continue
            scene.follow(newest.q)
            if not scene.is_watched:
                continue
            scene.show(newest.q, newest.q_asked, newest.targets)
            if newest.view is not None:
                scene.show_cues(newest.view)
            if newest.mirror is not None:
                scene.show_predicted(newest.mirror.q)
            if until_words <= 0.0:
                until_words = _SAY_EVERY
                scene.say(write_words(newest.state, newest.lines))


def find_port(first: int) -> int:
    """Return the first free port of this machine's loopback from one on."""
    for port in range(first, first + _N_PORTS):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    return first


def copy_for_cues(view: SessionView) -> SessionView:
    """Return a view whose mappings and advice are nobody else's."""
    mappings = {limb: np.array(D) for limb, D in view.mappings.items()}
    advice = {
        name: Advice(said.record.copy(), said.age) for name, said in view.advice.items()
    }
    return replace(view, mappings=mappings, advice=advice)


def _name_address(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def _list_words(view: SessionView) -> Iterator[str]:
    """Yield what to know beside the state."""
    yield f"episode {view.episode + 1} · gate {view.gate_state.name}"
    if view.latched:
        yield f"**{view.latched}**"
    if view.mirror is not None:
        yield describe_mirror(view.mirror)
    if np.isfinite(view.clearance):
        yield f"clearance {view.clearance * 1e3:.0f} mm"
    if view.is_engaged and view.reasons:
        yield "gate: " + ", ".join(view.reasons)
