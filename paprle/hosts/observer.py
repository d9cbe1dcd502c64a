"""The observers' process: tells others what is newest; nobody waits for it."""

from __future__ import annotations

import time

from paprle.contracts.plugins import Observer, SessionView
from paprle.hosts.factories import (
    list_objects,
    make_leader,
    make_observers,
    read_payload,
)
from paprle.hosts.view import make_view
from paprle.ipc.loop import DeadlineLoop
from paprle.ipc.mailbox import Mailbox
from paprle.ipc.process import Role, is_closed, run_role
from paprle.ipc.records import make_layout


def main(role: Role) -> None:
    """Host the observers until the session is gone."""
    resolved, robot = read_payload(role.payload)
    layout = make_layout(robot, make_leader(resolved).info, list_objects(resolved))
    ticks = Mailbox(layout.tick, role.fds["ticks"])
    status = Mailbox(layout.status, role.fds["status"])
    observers = make_observers(resolved, robot)
    try:
        for observer in observers:
            observer.open()
        role.report("ready")
        loop, k = DeadlineLoop(resolved.observers.rate), 0
        while not is_closed(role.fds["session_alive"]):
            loop.wait()
            tick, gate = ticks.read(), status.read()
            if tick is not None and gate is not None and int(gate["k"]) != k:
                k = int(gate["k"])
                _tell(observers, make_view(layout, tick, gate, time.monotonic_ns()))
    finally:
        for observer in observers:
            observer.close()


def _tell(observers: list[Observer], view: SessionView) -> None:
    for observer in observers:
        observer.observe(view)


if __name__ == "__main__":
    run_role(main)
