"""The publisher process: tells others what is newest; nobody waits for it."""

from __future__ import annotations

from paprle.contracts.plugins import Publisher, SessionReport
from paprle.contracts.types import SessionState
from paprle.hosts.factories import make_leader, make_publishers, read_payload
from paprle.ipc.loop import DeadlineLoop
from paprle.ipc.mailbox import Mailbox
from paprle.ipc.process import Role, is_closed, run_role
from paprle.ipc.records import Layout, Record, make_layout


def main(role: Role) -> None:
    """Host the publishers until the session is gone."""
    resolved, robot = read_payload(role.payload)
    layout = make_layout(robot, make_leader(resolved).info)
    ticks = Mailbox(layout.tick, role.fds["ticks"])
    status = Mailbox(layout.status, role.fds["status"])
    publishers = make_publishers(resolved, robot)
    try:
        for publisher in publishers:
            publisher.open()
        role.report("ready")
        loop, k = DeadlineLoop(resolved.publish.rate), 0
        while not is_closed(role.fds["session_alive"]):
            loop.wait()
            tick, gate = ticks.read(), status.read()
            if tick is not None and gate is not None and int(gate["k"]) != k:
                k = int(gate["k"])
                _tell(publishers, make_report(layout, tick, gate))
    finally:
        for publisher in publishers:
            publisher.close()


def _tell(publishers: list[Publisher], report: SessionReport) -> None:
    for publisher in publishers:
        publisher.publish(report)


def make_report(layout: Layout, tick: Record, gate: Record) -> SessionReport:
    """Return what a tick of the session and one of the gate say."""
    return SessionReport(
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
