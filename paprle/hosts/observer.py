"""The process of one observer: tells others what is newest; nobody waits for it."""

from __future__ import annotations

import time

from paprle.hosts.factories import (
    list_objects,
    make_leader_info,
    make_observer,
    read_payload,
    wait_for_others,
)
from paprle.hosts.roles import split_name
from paprle.hosts.view import make_view
from paprle.ipc.loop import DeadlineLoop
from paprle.ipc.mailbox import Mailbox
from paprle.ipc.process import Role, is_closed, run_role
from paprle.ipc.records import make_layout


def main(role: Role) -> None:
    """Host the observer until the session is gone."""
    resolved, robot = read_payload(role.payload)
    _, name = split_name(role.payload["name"])
    layout = make_layout(robot, make_leader_info(resolved), list_objects(resolved))
    ticks = Mailbox(layout.tick, role.fds["tick"])
    status = Mailbox(layout.status, role.fds["status"])
    observer = make_observer(resolved, robot, name)
    if wait_for_others(role) is None:
        return  # the session gave up before the gate was ready
    try:
        observer.open()
        role.report("ready")
        loop, k = DeadlineLoop(resolved.observers.rate), 0
        while not is_closed(role.fds["session_alive"]):
            loop.wait()
            tick, gate = ticks.read(), status.read()
            if tick is not None and gate is not None and int(gate["k"]) != k:
                k = int(gate["k"])
                observer.observe(make_view(layout, tick, gate, time.monotonic_ns()))
    finally:
        observer.close()


if __name__ == "__main__":
    run_role(main)
