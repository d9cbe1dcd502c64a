"""The process of one observer; periodic requests are its sign of life."""

from __future__ import annotations

import time
from collections.abc import Sequence

from paprle.config import Resolved
from paprle.contracts.operator.requests import Wishes
from paprle.contracts.plugins import Observer
from paprle.contracts.types import RobotInfo
from paprle.hosts.factories import (
    is_moved_at_page,
    list_observers,
    list_placed,
    make_observer,
    read_payload,
    sees,
    wait_for_others,
)
from paprle.hosts.roles import GATE
from paprle.hosts.two_hosts.stage_scheduler import (
    ORDER,
    ORDER_DTYPE,
    SPENT,
    SPENT_DTYPE,
    Free,
    Stage,
    StagePorts,
    pin,
)
from paprle.hosts.views.newest_images import NewestImages
from paprle.hosts.views.proximity import make_near_bodies
from paprle.hosts.views.remote_view import HEARD, HEARD_DTYPE, HeardReader
from paprle.hosts.views.scene_bodies import list_scene_bodies
from paprle.hosts.views.view import ViewReader
from paprle.ipc.loop import BESIDE_PRIORITY, Promoter
from paprle.ipc.mailbox import Mailbox
from paprle.ipc.ports import name_port, split_name
from paprle.ipc.process import Role, is_closed, run_role
from paprle.ipc.wishes_record import (
    WISHES,
    make_wishes_dtype,
    pack_wishes,
    unpack_wishes,
)

_ALIVE_NS = 250_000_000  # [ns] chosen: an eighth of what is called standing still


def main(role: Role) -> None:
    """Host the observer until the session ends."""
    resolved, robot = read_payload(role.payload)
    _, name = split_name(role.payload["name"])
    reader = _make_reader(role, resolved, robot)
    observer = make_observer(resolved, robot, name)
    rate = resolved.observers.rate
    images = NewestImages(role, resolved, rate, is_wanted=sees(type(observer)))
    said = {} if HEARD in role.fds else wait_for_others(role)
    if said is None:
        return  # the session gave up before the gate was ready
    observer.set_proximity_source(make_near_bodies(resolved, robot).find)
    world = said.get(GATE, {}).get("bodies", ())
    observer.set_scene(list_scene_bodies(resolved.gate.scene, world))
    wishes = _Wishes(role, observer, name, _list_placed(role, resolved))
    # a mirror image moves on, and grows old, without a word of the robot: pages show it
    is_page = type(observer).has_controls
    if ORDER in role.fds:
        pin(is_loop=False)  # where that is refused, the loop has said so
    try:
        observer.open()
        role.report("ready", notes=list(observer.notes))
        pace, written_ns = make_pace(role, resolved, name), 0
        carries_hands = is_page and is_moved_at_page(resolved)
        promoter = Promoter(BESIDE_PRIORITY, BESIDE_PRIORITY) if carries_hands else None
        while not is_closed(role.fds["session_alive"]):
            is_turn = pace.wait()
            if (
                promoter is not None
            ):  # a browser that draws on the processor delays no hand
                promoter.look()
            wishes.tell(time.monotonic_ns())
            if not is_turn:
                continue
            view = None if reader is None else reader.read(time.monotonic_ns())
            if view is not None and (
                view.written_ns != written_ns or (is_page and view.mirror is not None)
            ):
                written_ns = view.written_ns
                observer.observe(view)
            _show(observer, images)
            for text in observer.take_warnings():
                role.report("trouble", message=text)
            pace.end()
    finally:
        observer.close()
        for text in observer.closing_notes:
            role.report("summary", message=text)


def _show(observer: Observer, images: NewestImages) -> None:
    frames, lost = images.read_changes(time.monotonic_ns())
    if frames:
        observer.show(frames, images.cameras)
    if lost:
        observer.lose(lost)


def _make_reader(
    role: Role, resolved: Resolved, robot: RobotInfo
) -> ViewReader | HeardReader | None:
    if HEARD in role.fds:
        return HeardReader(role, robot)
    return ViewReader(role, resolved, robot) if "tick" in role.fds else None


def make_pace(role: Role, resolved: Resolved, name: str) -> Stage | Free:
    """Return the observer's turn, or its rate."""
    rate = resolved.observers.rate
    if ORDER not in role.fds:
        return Free(rate)
    ports = StagePorts(
        order=Mailbox(ORDER_DTYPE, role.fds[ORDER]),
        spent=Mailbox(SPENT_DTYPE, role.fds[name_port(SPENT, name)]),
        heard=Mailbox(HEARD_DTYPE, role.fds[HEARD]),
    )
    return Stage(ports, 1 + list(list_observers(resolved)).index(name), rate)


def _list_placed(role: Role, resolved: Resolved) -> Sequence[str]:
    return () if HEARD in role.fds else list_placed(resolved)


class _Wishes:
    def __init__(
        self, role: Role, observer: Observer, name: str, placed: Sequence[str]
    ) -> None:
        self._observer, self._told_ns = observer, 0
        self._box: Mailbox | None = None
        self._told: Wishes | None = None
        fd = role.fds.get(name_port(WISHES, name))
        if fd is None:
            return
        self._dtype = make_wishes_dtype(observer.robot, placed)
        self._box = Mailbox(self._dtype, fd)
        before = self._box.read()
        if before is not None:
            observer.resume(unpack_wishes(before))

    def tell(self, now_ns: int) -> None:
        if self._box is None:
            return
        wishes = self._observer.wishes
        if wishes is not self._told or now_ns - self._told_ns > _ALIVE_NS:
            self._told, self._told_ns = wishes, now_ns
            self._box.write(pack_wishes(self._dtype, wishes))


if __name__ == "__main__":
    run_role(main)
