"""The process of one observer: tells others what is newest; nobody waits for it."""

from __future__ import annotations

import time

from paprle.hosts.factories import (
    make_observer,
    read_payload,
    wait_for_others,
)
from paprle.hosts.view import ViewReader
from paprle.ipc.loop import DeadlineLoop
from paprle.ipc.ports import split_name
from paprle.ipc.process import Role, is_closed, run_role


def main(role: Role) -> None:
    """Host the observer until the session is gone."""
    resolved, robot = read_payload(role.payload)
    _, name = split_name(role.payload["name"])
    reader = ViewReader(role, resolved, robot)
    observer = make_observer(resolved, robot, name)
    if wait_for_others(role) is None:
        return  # the session gave up before the gate was ready
    try:
        observer.open()
        role.report("ready", notes=list(observer.notes))
        loop, written_ns = DeadlineLoop(resolved.observers.rate), 0
        while not is_closed(role.fds["session_alive"]):
            loop.wait()
            view = reader.read(time.monotonic_ns())
            if view is not None and view.written_ns != written_ns:
                written_ns = view.written_ns
                observer.observe(view)
            for text in observer.take_warnings():
                role.report("trouble", message=text)
    finally:
        observer.close()
        for text in observer.last_words:
            role.report("summary", message=text)


if __name__ == "__main__":
    run_role(main)
