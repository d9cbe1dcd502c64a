"""Observer of the session's page.

Threads do the work; ``observe`` only copies numbers.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from paprle.contracts.operator.requests import Wishes
from paprle.contracts.plugins import CameraInfo, Clock, Frame, Observer, SessionView
from paprle.contracts.proximity import FindNear, Near
from paprle.contracts.scene_body import SceneBody
from paprle.contracts.session_view import MirroredRobot
from paprle.contracts.types import RobotInfo, Vec
from paprle.hardware.web.errors import WebError
from paprle.hardware.web.serving.addresses import find_place
from paprle.observers.view.config import ViewConfig
from paprle.observers.view.snapshots import copy_arrays, copy_for_cues, copy_mirror
from paprle.observers.view.view_json import Shown, describe_hold

if TYPE_CHECKING:
    from paprle.hardware.web.serving.server import WebServer
    from paprle.observers.view.page_socket import Talk
    from paprle.observers.view.panel import Panel
    from paprle.observers.view.thumbnails import Album
    from paprle.observers.view.viser_proxy import Relay

_NICE = 10  # chosen: a picture waits for whoever moves a robot
_N_PORTS = 20  # chosen: sessions beside each other on one machine
_SAY_NS = 90_000_000  # [ns] chosen: pages are told ten times a second
_CLOSING = 1.0  # [s] chosen: browsers are told, and nobody waits for them
_MISSING = (
    "observers.view: expected {}, got none; the session goes on without {}: "
    "pip install 'paprle[page]', or session.view=false"
)


class View(Observer):
    """Serves watchers and one operator."""

    config: ViewConfig
    has_controls: ClassVar[bool] = True

    def __init__(self, config: ViewConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._port = 0
        self._key = ""
        self._before = Wishes()
        self._arrays: dict[str, Any] | None = None
        self._targets: dict[str, Any] = {}
        self._objects: dict[str, Any] = {}
        self._bodies: tuple[SceneBody, ...] = ()
        self._dragged: tuple[str, ...] = ()
        self._told: list[str] = []
        self._shown, self._said_ns = Shown(robot), 0
        self._mirror: MirroredRobot | None = None
        self._cued: SessionView | None = None
        self._held = ""
        self._find_near: FindNear = _find_nothing
        self._album: Album | None = None
        self._stop, self._fresh = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._panel: Panel | None = None
        self._talk: Talk | None = None
        self._server: WebServer | None = None

    @property
    def notes(self) -> Sequence[str]:
        """Secret address, on a network also a QR code."""
        if not self._port:
            return []
        try:
            address = self._address
        except WebError:
            return []  # its thread reports that it has no place
        is_here = self.config.listen == "usb"
        return [f"open {address}", *([] if is_here else _draw(address))]

    @property
    def wishes(self) -> Wishes:
        """Requests made at the page."""
        panel = self._panel
        wishes = self._before if panel is None else panel.wishes
        return wishes

    def resume(self, wishes: Wishes) -> None:
        """Continue with the same token."""
        self._before, self._key = (
            wishes._replace(hands=None, is_watched=False),
            wishes.key,
        )

    def open(self) -> None:
        """Choose a port and begin to load; never fails."""
        self._stop.clear()
        self._port = find_port(self.config.port)
        self._key = self._key or secrets.token_urlsafe(16)
        self._before = self._before._replace(key=self._key)
        self._thread = threading.Thread(target=self._run, name="view", daemon=True)
        self._thread.start()

    def set_proximity_source(self, find_near: FindNear) -> None:
        """Set the proximity function."""
        self._find_near = find_near

    def set_scene(self, bodies: Sequence[SceneBody]) -> None:
        """Set the surrounding bodies."""
        self._bodies = tuple(bodies)

    def show(
        self, frames: Mapping[str, Frame], cameras: Mapping[str, CameraInfo]
    ) -> None:
        """Keep the newest images."""
        if self._album is not None:
            self._album.take(frames, cameras)

    def lose(self, cameras: Collection[str]) -> None:
        """Clear pictures of lost cameras."""
        if self._album is not None:
            self._album.drop(cameras)

    def observe(self, view: SessionView) -> None:
        """Keep the newest view."""
        self._arrays = copy_arrays(view)
        self._targets = {limb: row.copy() for limb, row in view.targets.items()}
        self._objects = {name: row.copy() for name, row in view.objects.items()}
        self._mirror = copy_mirror(view)
        self._cued = copy_for_cues(view) if view.mappings else None
        self._held = describe_hold(view)
        self._fresh.set()
        now_ns = self.clock()
        if self._talk is not None and now_ns - self._said_ns > _SAY_NS:
            self._said_ns = now_ns
            self._talk.told = self._shown.make(view)
            if self._talk.library is not None:
                self._talk.library.take(
                    view.news.get("episodes", ()), is_calm=not view.is_engaged
                )
            leader = view.news.get("leader", {})
            is_dragged = leader.get("emits") == "pose"
            hands = leader.get("hands", ()) if is_dragged else ()
            chosen = () if self._panel is None else self._panel.chosen
            self._dragged = tuple(limb for limb in hands if limb in chosen)
            if self._panel is not None:
                self._panel.placeable = tuple(view.news.get("objects", ()))

    def take_warnings(self) -> Sequence[str]:
        """Return new failures, once."""
        told, self._told = self._told, []
        return told

    def close(self) -> None:
        """Close the page."""
        self._stop.set()
        if self._album is not None:
            self._album.close()
        if self._talk is not None and self._talk.library is not None:
            self._talk.library.close()
        if self._server is not None:  # its thread would outlive this process's main one
            self._server.close()
        if self._thread is not None:
            self._thread.join(_CLOSING)
            self._thread = None

    @property
    def _address(self) -> str:
        server = self._server
        if server is not None:
            return f"{server.address}#{self._key}"
        place = find_place(self.config.listen)
        scheme = "https" if place.has_tls else "http"
        return f"{scheme}://{place.address}:{self._port}/#{self._key}"

    def _run(self) -> None:
        try:
            relay = self._serve()
        except ImportError as err:
            self._told.append(_MISSING.format(err.name, "a page"))
            return
        except Exception as err:  # noqa: BLE001 - a page's failure is nobody else's
            self._told.append(f"observers.view: no page: {err}")
            return
        try:
            if relay is not None and not self._stop.is_set():
                self._show(relay)
            self._stop.wait()
        finally:
            if self._server is not None:
                self._server.close()

    def _serve(self) -> Relay | None:
        # loaded here: it takes a while, which no start waits for
        from paprle.observers.view.site import make_site  # noqa: PLC0415

        made = make_site(self.config, self.robot, self.clock, self._before, self._port)
        self._panel, self._talk, self._server = made.panel, made.talk, made.server
        self._album = made.album
        if made.server.port != self._port:
            self._port = made.server.port
            self._told.append(f"observers.view: open {self._address}")
        self._told += [f"observers.view: {note}" for note in made.notes]
        return made.relay

    def _show(self, relay: Relay) -> None:
        with contextlib.suppress(OSError):  # a machine may forbid it
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        try:
            from paprle.observers.view.drawing.bodies import Robot  # noqa: PLC0415
            from paprle.observers.view.scene import Scene  # noqa: PLC0415
        except ImportError as err:
            self._told.append(_MISSING.format(err.name, "a picture"))
            return
        try:
            robot = Robot(self.robot)
            max_points = round(self.config.trail * self.config.rate)
            scene = Scene(self.robot, robot, self._panel, max_points, self._bodies)
            if self.config.cues is not None:
                scene.add_cues(self.config.cues)
            relay.guard(scene.server)
        except Exception as err:  # noqa: BLE001 - likewise
            self._told.append(f"observers.view: no picture: {err}")
            return
        if robot.note:
            self._told.append(f"observers.view: {robot.note}")
        try:
            self._update(scene)
        except Exception as err:  # noqa: BLE001 - likewise
            self._told.append(f"observers.view: the picture stands still: {err}")
        finally:
            scene.close()

    def _update(self, scene: Any) -> None:
        period = 1.0 / self.config.rate
        while not self._stop.wait(period):
            self._fresh.clear()
            self._fresh.wait(period)  # drawn as soon as it is known
            arrays, mirror, cued = self._arrays, self._mirror, self._cued
            if arrays is None:
                continue
            scene.follow(arrays["q"])
            if scene.is_watched:
                scene.show(arrays["q"], arrays["q_asked"], self._targets)
                scene.show_objects(self._objects)
                scene.offer(self._dragged)
                if self._panel is not None:
                    scene.show_parts(self._panel.parts)
                near = self._look_for_near(arrays["q"])
                scene.show_felt(arrays["q"], arrays["tau"], near, self._held)
                if self._album is not None:
                    scene.show_cameras(self._album)
                if mirror is not None:
                    scene.show_predicted(mirror.q)
                if cued is not None:
                    scene.show_cues(cued)

    def _look_for_near(self, q: Vec) -> Sequence[Near]:
        try:
            return self._find_near(q)
        except Exception as err:  # noqa: BLE001 - likewise
            self._find_near = _find_nothing
            self._told.append(f"observers.view: clearances are not shown: {err}")
            return ()


def _find_nothing(_: Vec) -> Sequence[Near]:
    return ()


def _draw(address: str) -> list[str]:
    try:
        from paprle.hardware.web.serving.qr import draw_qr  # noqa: PLC0415 - of phones
    except ImportError:
        return []
    return ["\n" + "\n".join(draw_qr(address))]


def find_port(first: int) -> int:
    """Return the next free loopback port."""
    for port in range(first, first + _N_PORTS):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    return first
