"""The process of one camera: posts images and has them recorded.

Threads wait for the device, code images and judge its health.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from paprle.config.laws import list_named
from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Camera, Frame, RobotPose
from paprle.contracts.settings.camera import FilmSettings
from paprle.hosts.factories import (
    list_objects,
    make_camera,
    read_payload,
    wait_for_others,
)
from paprle.hosts.processes.camera_film import CameraFilm
from paprle.hosts.roles import FOOTAGE, FRAMES, GATE, RECORDING
from paprle.hosts.views.camera_health import NO_IMAGE, CameraState, Health
from paprle.ipc.mailbox import Mailbox, Ring
from paprle.ipc.pictures import RECORDING_DTYPE, find_room
from paprle.ipc.ports import Frames, name_port, split_name
from paprle.ipc.process import Role, is_closed, run_role
from paprle.ipc.records import Layout, make_gate_layout

_TIMEOUT = 0.2  # [s] chosen: how soon a thread sees that the session is gone
_REOPEN = 1.0  # [s] chosen: how often a device that is gone is looked for
_END = 1.0  # [s] chosen: a thread in a driver that hangs is left behind after this
_BEAT_NS = 250_000_000  # [ns] chosen: the session hears from a camera without images
_HUNG_NS = 30_000_000_000  # [ns] chosen: longer than any device takes to open
_TELL_NS = 5_000_000_000  # [ns] chosen: what goes on is not told with each image
_NICENESS = 10  # chosen: a tenth of the share of a process that moves a robot


class CameraHost:
    """One camera with its slots and its film."""

    def __init__(self, role: Role) -> None:
        resolved, robot = read_payload(role.payload)
        _, self._name = split_name(role.payload["name"])
        self._role = role
        self._camera: Camera = make_camera(resolved, self._name)
        info = self._camera.info
        self._info = info
        n_bytes = info.max_bytes + info.depth_bytes
        self._slots = Frames(n_bytes).open(role.fds[name_port(FRAMES, self._name)])
        self._is_back = self._slots.count > 0  # an earlier process wrote there
        self._health = self._make_health()
        self._lock = threading.Lock()  # of health and slots
        self._is_open, self._may_begin = threading.Event(), threading.Event()
        self._must_end = threading.Event()
        self._failure: Exception | None = None
        self._beat_ns = self._told_ns = self._asked_ns = 0
        self._is_emptied = False
        self._n_told = 0
        self._film: CameraFilm | None = None
        footage = role.fds.get(name_port(FOOTAGE, self._name))
        config = list_named(resolved.cameras)[self._name]
        if footage is not None and isinstance(config, FilmSettings):
            ring = Ring(find_room(info), footage)
            level = Mailbox(RECORDING_DTYPE, role.fds[RECORDING])
            self._film = CameraFilm(info, config.video, ring, level, self._describe)
        layout = make_gate_layout(robot, list_objects(resolved))
        world = role.payload["config"]["env"]
        self._camera.watch(robot, world, _make_look(role, layout))

    def run(self) -> None:
        """Run until the session ends or the camera fails.

        Raises:
            Exception: The camera's failure, unless it went away.
        """
        threads = [
            threading.Thread(target=self._run_camera, name="camera", daemon=True)
        ]
        if self._film is not None:
            film = threading.Thread(target=self._film.run, name="film", daemon=True)
            threads.append(film)
        for thread in threads:
            thread.start()
        try:
            while not self._is_open.wait(_TIMEOUT):
                if is_closed(self._role.fds["session_alive"]):
                    return
            if self._failure is None and wait_for_others(self._role) is not None:
                self._role.report("ready", notes=list(self._camera.notes))
                self._health = self._make_health()
                self._asked_ns = time.monotonic_ns()
                self._may_begin.set()
                self._watch()
        finally:
            self._must_end.set()
            self._may_begin.set()
            if self._film is not None:
                self._film.end()
            for thread in threads:
                thread.join(_END)
            for text in (*self._camera.closing_notes, *self._summarise()):
                self._role.report("summary", message=text)
        if self._failure is not None:
            raise self._failure

    def _make_health(self) -> Health:
        return Health(self._info, time.monotonic_ns(), is_back=self._is_back)

    def _watch(self) -> None:
        alive, gate = self._role.fds["session_alive"], self._role.fds[f"{GATE}_alive"]
        while self._failure is None and not is_closed(alive):
            with self._lock:
                nap = self._health.find_nap(time.monotonic_ns())
            select.select([alive], [], [], min(_TIMEOUT, nap))
            self._look_at_threads(time.monotonic_ns())
            if not is_closed(gate):  # without it nothing is drawn, nor missed
                self.judge(time.monotonic_ns())

    def _look_at_threads(self, now_ns: int) -> None:
        if self._film is not None and self._film.failure is not None:
            self._failure = self._film.failure
        if now_ns - self._asked_ns > _HUNG_NS:
            hung = f"no answer of its driver for {_HUNG_NS * 1e-9:g} [s]"
            self._failure = self._failure or DeviceError(hung)

    def judge(self, now_ns: int) -> None:
        """Report changes of health; empty a slot without images."""
        with self._lock:
            changes = self._health.look(now_ns)
            is_gone = self._health.state in NO_IMAGE
            is_due = not self._is_emptied or now_ns - self._beat_ns > _BEAT_NS
            self._is_emptied = is_gone
            if is_gone and is_due:
                self._beat_ns = now_ns
                self._slots.write(now_ns, b"")
        for change in changes:
            self._role.report("trouble", message=change.text)
            if self._film is not None:
                self._film.note(change.state.value, change.text)
        n_dropped = 0 if self._film is None else self._film.n_dropped
        if n_dropped > self._n_told and now_ns - self._told_ns > _TELL_NS:
            self._n_told, self._told_ns = n_dropped, now_ns
            text = f"{n_dropped} images were not recorded: the machine is too slow"
            self._role.report("trouble", message=text)

    def _run_camera(self) -> None:
        try:
            self._open()
            self._is_open.set()
            self._may_begin.wait()
            while not self._must_end.is_set():
                self._step()
        except Exception as err:  # noqa: BLE001 - the main thread fails of it
            self._failure = err
        finally:
            self._is_open.set()
            self._camera.close()

    def _open(self) -> None:
        try:
            self._camera.open()
        except DeviceError as err:
            self._camera.close()
            if not self._is_back:
                raise
            self._lose(err)

    def _step(self) -> None:
        self._asked_ns = time.monotonic_ns()
        with self._lock:
            is_gone = self._health.state is CameraState.GONE
        try:
            if is_gone:
                self._must_end.wait(_REOPEN)
                self._camera.open()
                with self._lock:
                    self._health.begin(time.monotonic_ns())
            frame = self._camera.grab(_TIMEOUT)
        except DeviceError as err:
            self._camera.close()
            self._lose(err)
            return
        if frame is not None:
            self._post(frame)
        for text in self._camera.take_warnings():
            self._role.report("trouble", message=text)

    def _post(self, frame: Frame) -> None:
        with self._lock:
            if not self._health.accept(frame, time.monotonic_ns()):
                return
            self._slots.write(frame.stamp_ns, frame.data + frame.depth)
        if self._film is not None:
            self._film.offer(frame)

    def _lose(self, err: DeviceError) -> None:
        with self._lock:
            self._health.lose(str(err), time.monotonic_ns())

    def _describe(self) -> dict[str, Any]:
        return {"camera": self._name, "stamps": self._camera.stamped_by}

    def _summarise(self) -> list[str]:
        health, film = self._health, self._film
        counts = {
            "not coded": 0 if film is None else film.n_dropped,
            "refused": health.n_refused,
            "given twice": health.n_repeated,
            "faults": health.n_faults,
        }
        told = [f"{n} {what}" for what, n in counts.items() if n]
        return [f"images: {', '.join(told)}"] if told else []


def _make_look(role: Role, layout: Layout) -> Callable[[], RobotPose | None]:
    status = Mailbox(layout.status, role.fds["status"])

    def look() -> RobotPose | None:
        record = status.read()
        if record is None:
            return None
        rows = dict(zip(layout.objects, record["objects"], strict=True))
        there = {name: row for name, row in rows.items() if not np.isnan(row).any()}
        return RobotPose(int(record["meas_ns"]), record["q_meas"], there)

    return look


def give_way() -> None:
    """Lower the process's priority: set-points go first."""
    os.nice(_NICENESS)
    if hasattr(os, "SCHED_BATCH"):  # whoever wakes up does not interrupt others then
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def main(role: Role) -> None:
    """Host the camera."""
    give_way()
    CameraHost(role).run()


if __name__ == "__main__":
    run_role(main)
