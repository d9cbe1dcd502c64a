"""The stand-in of a gate on another host."""

from __future__ import annotations

import time

from paprle.config import Resolved
from paprle.contracts.errors import DeviceError
from paprle.hosts.factories import (
    RING_BYTES,
    list_objects,
)
from paprle.hosts.plan import make_robot
from paprle.hosts.roles import GATE_RING
from paprle.hosts.two_hosts.config_digest import PERIOD_RATE, SILENCE, identify
from paprle.ipc.loop import (
    DeadlineLoop,
    Promoter,
    freeze_garbage,
    request_realtime,
)
from paprle.ipc.mailbox import Mailbox, Ring
from paprle.ipc.process import Role, is_closed, run_role
from paprle.ipc.records import Record, Request, Stream, make_gate_layout
from paprle.link.batch_compression import AT_ONCE
from paprle.link.leader_end import LeaderEnd
from paprle.link.mirror import make_gate_cut
from paprle.link.opening import make_link, read_key

_SHUTDOWN_TIMEOUT = 6.0  # [s] chosen: the gate brakes and leaves its follower
_FETCHING = 60.0  # [s] chosen: for records that found no room on the way
_AGAIN = 0.02  # [s] chosen: how often a last word is said again
_N_BYES = 5  # chosen: some may be lost
_WORTH_WORDS = 50  # chosen: datagrams, a second or two of periods
_UNANSWERED = 3.0  # [s] chosen: an answer takes a round trip, and DDS a second to match


class RemoteGate:
    """The leader's end of the link."""

    def __init__(self, role: Role) -> None:
        resolved = Resolved.from_dict(role.payload["config"])
        robot = make_robot(resolved).info
        layout = make_gate_layout(robot, list_objects(resolved))
        self._role = role
        self._peer = resolved.link.peer
        self._setpoints = Mailbox(layout.setpoint, role.fds["setpoint"])
        self._status = Mailbox(layout.status, role.fds["status"])
        self._ring = Ring(RING_BYTES, role.fds[GATE_RING])
        self._link = make_link(resolved.link, resolved.follower_name, is_leader=True)
        self._end = LeaderEnd(
            read_key(resolved.link),
            make_gate_cut(layout),
            identify(resolved, robot, layout),
            is_recorded=resolved.record.dir is not None,
        )
        self._n_sent = 0
        self._last: Record | None = None
        self._said_ns = self._begin_ns = 0

    def run(self) -> None:
        """Run until the session or the follower's host ends."""
        self._link.open()
        request_realtime()
        freeze_garbage()
        loop, promoter = DeadlineLoop(PERIOD_RATE), Promoter()
        try:
            while not is_closed(self._role.fds["session_alive"]):
                loop.wait()
                promoter.look()  # the link has threads of its own
                self._step(time.monotonic_ns())
            self._shut_down(loop)
        finally:
            self._link.close()
            self._tell_lost()

    def _tell_lost(self) -> None:
        n_lost = self._end.n_lost + self._end.n_missing
        if n_lost:
            n = AT_ONCE * n_lost
            text = (
                f"up to {n} periods of the gate did not arrive: they are not recorded"
            )
            self._role.report("trouble", message=text)

    def _step(self, now_ns: int) -> None:
        end = self._end
        if not end.has_left:
            end.ask(now_ns)
        if not end.has_left and self._setpoints.count != self._n_sent:
            self._n_sent = self._setpoints.count
            self._last = self._setpoints.read()
            if self._last is not None:
                end.send("setpoint", self._last, now_ns)
        self._hear(now_ns)
        self._watch_answers(now_ns)
        if end.refusal:
            raise DeviceError(f"link: {self._peer}: {end.refusal}")
        if end.is_over(now_ns):
            raise DeviceError(f"link: {self._peer}: the gate ended; see its output")
        if end.answered_ns and now_ns - end.answered_ns > SILENCE * 1e9:
            raise DeviceError(
                f"link: {self._peer}: no state from the gate for {SILENCE:g} s; "
                "look at the robot, and check the network"
            )

    def _watch_answers(self, now_ns: int) -> None:
        if self._begin_ns < 0 or self._end.answered_ns:
            return
        self._begin_ns = self._begin_ns or now_ns
        if now_ns - self._begin_ns < _UNANSWERED * 1e9:
            return
        self._begin_ns = -1
        refused = self._end.refused
        counts = ", ".join(f"{why} {n}" for why, n in sorted(refused.items()))
        self._role.report(
            "trouble",
            message=f"no answer from {self._peer}: is `paprle serve` running there, "
            "with our address as link.peer, and is the key the same? Refused here: "
            f"{counts or 'nothing'}",
        )

    def _hear(self, now_ns: int) -> None:
        end = self._end
        status = end.receive(self._link.receive(), now_ns).get("status")
        if status is not None:
            self._status.write(status)
        for record in end.queued:
            self._ring.push(Stream.GATE, record)
        end.queued.clear()
        for data in end.outbox:
            self._link.send(data)
        end.outbox.clear()
        self._pass_reports()

    def _pass_reports(self) -> None:
        reports, self._end.reports = self._end.reports, []
        for report in reports:
            if report["event"] == "error":
                raise DeviceError(f"at {self._peer}: {report.get('message', '')}")
            if report["event"] == "ready":
                trip = 1e-6 * self._end.clock.trip_ns
                report["note"] = "\n".join(
                    filter(
                        None,
                        [
                            f"the gate is at {self._peer}, {trip:.1f} ms there and "
                            "back; forces are not rendered over a link",
                            report.get("note", ""),
                        ],
                    )
                )
            self._role.report(report.pop("event"), **report)

    def _shut_down(self, loop: DeadlineLoop) -> None:
        end, begin = self._end, time.monotonic()
        must_disarm = (
            self._last is not None and int(self._last["request"]) == Request.DISARM
        )
        n_byes = n_told = 0
        while n_byes < _N_BYES or end.has_left:
            loop.wait()
            now_ns = time.monotonic_ns()
            if end.n_missing > _WORTH_WORDS and not n_told:
                n_told = AT_ONCE * end.n_missing
                text = f"fetching {n_told} periods that found no room on the way"
                self._role.report("trouble", message=text)
            if time.monotonic() - begin > (_FETCHING if n_told else _SHUTDOWN_TIMEOUT):
                return
            if end.is_over(now_ns):
                return
            if not end.has_left and now_ns - self._said_ns > _AGAIN * 1e9:
                self._said_ns = now_ns
                if must_disarm and self._last is not None:
                    end.send("setpoint", self._last, now_ns)
                else:
                    end.send_bye(now_ns)
                    n_byes += 1
            self._hear(now_ns)


def main(role: Role) -> None:
    """Host the leader's end."""
    RemoteGate(role).run()


if __name__ == "__main__":
    run_role(main)
