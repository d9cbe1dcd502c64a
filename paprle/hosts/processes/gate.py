"""The gate process, which outlives the session to brake."""

from __future__ import annotations

import time

from paprle.config import Resolved
from paprle.contracts.plugins import Follower
from paprle.contracts.types import ClosePolicy
from paprle.gate.reasons import Reason
from paprle.hosts.factories import (
    RING_BYTES,
    list_objects,
)
from paprle.hosts.plan import make_controller, make_follower, make_robot
from paprle.hosts.processes.open_follower import open_follower
from paprle.hosts.roles import GATE_RING
from paprle.ipc.boottime import read_boottime
from paprle.ipc.loop import (
    DeadlineLoop,
    Pacer,
    Promoter,
    freeze_garbage,
    request_realtime,
)
from paprle.ipc.mailbox import Mailbox, Ring
from paprle.ipc.process import Role, is_closed, run_role
from paprle.ipc.records import Record, Request, Stream, make_gate_layout

_BRAKING_TIME = 5.0  # [s] chosen: longer than any arm needs from V to rest


class GateHost:
    """One gate and its follower."""

    def __init__(self, role: Role) -> None:
        resolved = Resolved.from_dict(role.payload["config"])
        robot = make_robot(resolved)
        layout = make_gate_layout(robot.info, list_objects(resolved))
        self._role = role
        self._notes: list[str] = []
        self._follower: Follower = make_follower(resolved, robot)
        self._setpoints = Mailbox(layout.setpoint, role.fds["setpoint"])
        self._status = Mailbox(layout.status, role.fds["status"])
        self._ring = Ring(RING_BYTES, role.fds[GATE_RING])
        self._info, notes = open_follower(resolved, self._follower, robot.info)
        self._notes += [*notes, *self._follower.notes]
        self._pacer = Pacer(self._info.rate)
        self._controller = make_controller(
            resolved, robot, self._follower, self._info, layout
        )
        self._controller.pace = self._pace
        self._policy = self._choose_policy(resolved.session.close_policy)

    def run(self) -> None:
        """Run until DISARM, the session's death or the follower's failure."""
        self._notes.append(request_realtime())
        freeze_garbage()
        note = "\n".join(filter(None, self._notes))
        info = self._info
        self._role.report(
            "ready", rate=info.rate, lag=info.lag, note=note, bodies=info.bodies
        )
        loop = DeadlineLoop(self._info.rate, turn=0.0)
        try:
            try:
                self._loop(loop)
            finally:
                self._brake(loop)
        finally:
            self._follower.close(self._policy)
            for text in self._follower.closing_notes:
                self._role.report("summary", message=text)
        if self._controller.fault is not None:
            raise self._controller.fault

    def _choose_policy(self, asked: str) -> ClosePolicy:
        if asked == "off" and self._info.power_off == "falls":
            self._notes.append(
                "session.close_policy: this arm falls when its power goes, so it is "
                "left holding in place of off"
            )
            return "hold"
        return "off" if asked == "off" else "hold"

    def _pace(self) -> int:
        self._pacer.wait()
        return read_boottime()

    def _loop(self, loop: DeadlineLoop) -> None:
        promoter = Promoter()  # states that are received late are old
        while self._controller.fault is None:
            late_ns = loop.wait()
            promoter.look()
            if is_closed(self._role.fds["session_alive"]):
                return
            setpoint = self._setpoints.read()
            self._step(setpoint, loop, late_ns)
            for text in self._follower.take_warnings():
                self._role.report("trouble", message=text)
            must_disarm = (
                setpoint is not None and int(setpoint["request"]) == Request.DISARM
            )
            if must_disarm and self._controller.is_at_rest:
                return

    def _brake(self, loop: DeadlineLoop) -> None:
        self._controller.is_orphaned = True
        end = time.monotonic() + _BRAKING_TIME
        while not self._controller.is_at_rest and time.monotonic() < end:
            self._step(self._setpoints.read(), loop, loop.wait())

    def _step(self, setpoint: Record | None, loop: DeadlineLoop, late_ns: int) -> None:
        start_ns, boot_ns = time.monotonic_ns(), read_boottime()
        record = self._controller.step(setpoint, start_ns, loop.deadline_ns, boot_ns)
        if late_ns > loop.period_ns:
            record["counts"][Reason.LATE] += 1
        record["late_ns"], record["n_overruns"] = late_ns, loop.n_overruns
        record["stamp_ns"] = max(self._pacer.sent_ns, start_ns)
        record["compute_ns"] = time.monotonic_ns() - start_ns
        self._status.write(record)
        if not self._controller.is_cut_off:  # what is recorded was sent
            self._ring.push(Stream.GATE, record.tobytes())


def main(role: Role) -> None:
    """Host the gate."""
    GateHost(role).run()


if __name__ == "__main__":
    run_role(main)
