"""The process of one observer: tells others what is newest; nobody waits for it."""

from __future__ import annotations

import time

from paprle.config import Resolved
from paprle.config.laws import list_named
from paprle.contracts.plugins import Frame, Observer
from paprle.hosts.factories import (
    make_camera,
    make_observer,
    read_payload,
    sees,
    wait_for_others,
)
from paprle.hosts.roles import FRAMES
from paprle.hosts.view import ViewReader
from paprle.ipc.loop import DeadlineLoop
from paprle.ipc.ports import Frames, name_port, split_name
from paprle.ipc.process import Role, is_closed, run_role


class Sights:
    """The images that are new since they were looked at.

    Attributes:
        cameras: What they are, by name; empty for who wants none.
    """

    def __init__(self, role: Role, resolved: Resolved, observer: Observer) -> None:
        """Open them for an observer that wants any."""
        names = list_named(resolved.cameras) if sees(type(observer)) else ()
        self.cameras = {name: make_camera(resolved, name).info for name in names}
        self._slots = {
            name: Frames(info.max_bytes + info.depth_bytes).open(
                role.fds[name_port(FRAMES, name)]
            )
            for name, info in self.cameras.items()
        }
        self._seen = dict.fromkeys(self._slots, 0)

    def read(self) -> dict[str, Frame]:
        """Return them by camera."""
        frames = {}
        for name, slots in self._slots.items():
            if slots.count == self._seen[name]:
                continue
            self._seen[name] = slots.count
            image = slots.read()
            if image is not None:
                frames[name] = self.cameras[name].split(*image)
        return frames


def main(role: Role) -> None:
    """Host the observer until the session is gone."""
    resolved, robot = read_payload(role.payload)
    _, name = split_name(role.payload["name"])
    # beside a gate that is served there is no tick, and nothing of a session to tell
    reader = ViewReader(role, resolved, robot) if "tick" in role.fds else None
    observer = make_observer(resolved, robot, name)
    sights = Sights(role, resolved, observer)
    if wait_for_others(role) is None:
        return  # the session gave up before the gate was ready
    try:
        observer.open()
        role.report("ready", notes=list(observer.notes))
        loop, written_ns = DeadlineLoop(resolved.observers.rate), 0
        while not is_closed(role.fds["session_alive"]):
            loop.wait()
            view = None if reader is None else reader.read(time.monotonic_ns())
            if view is not None and view.written_ns != written_ns:
                written_ns = view.written_ns
                observer.observe(view)
            frames = sights.read()
            if frames:
                observer.show(frames, sights.cameras)
            for text in observer.take_warnings():
                role.report("trouble", message=text)
    finally:
        observer.close()
        for text in observer.last_words:
            role.report("summary", message=text)


if __name__ == "__main__":
    run_role(main)
