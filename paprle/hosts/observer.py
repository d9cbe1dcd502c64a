"""The process of one observer: tells others what is newest; nobody waits for it."""

from __future__ import annotations

from paprle.contracts.plugins import SessionView
from paprle.contracts.types import SessionState
from paprle.hosts.factories import (
    make_leader_info,
    make_observer,
    read_payload,
    wait_for_others,
)
from paprle.hosts.roles import split_name
from paprle.ipc.loop import DeadlineLoop
from paprle.ipc.mailbox import Mailbox
from paprle.ipc.process import Role, is_closed, run_role
from paprle.ipc.records import Layout, Record, make_layout


def main(role: Role) -> None:
    """Host the observer until the session is gone."""
    resolved, robot = read_payload(role.payload)
    _, name = split_name(role.payload["name"])
    layout = make_layout(robot, make_leader_info(resolved))
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
                observer.observe(make_report(layout, tick, gate))
    finally:
        observer.close()


def make_report(layout: Layout, tick: Record, gate: Record) -> SessionView:
    """Return what a tick of the session and one of the gate say."""
    return SessionView(
        stamp_ns=int(tick["stamp_ns"]),
        episode=int(tick["episode"]),
        is_engaged=int(tick["state"]) == SessionState.ENGAGED,
        captured_ns=int(tick["sample"]["stamp_ns"]) if tick["has_sample"] else 0,
        posted_ns=int(tick["posted_ns"]),
        computed_ns=int(tick["compute_ns"]),
        targets=dict(zip(layout.limbs, tick["target"], strict=True)),
        q_des=tick["q_des"],
        written_ns=int(gate["stamp_ns"]),
        q_cmd=gate["q_cmd"],
        dq_cmd=gate["dq_cmd"],
        measured_ns=int(gate["meas_ns"]),
        q=gate["q_meas"],
        dq=gate["dq_meas"],
        tau=gate["tau_meas"],
    )


if __name__ == "__main__":
    run_role(main)
