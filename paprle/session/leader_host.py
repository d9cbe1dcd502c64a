"""The leader process: owns the operator's device and posts its newest sample."""

from __future__ import annotations

import signal
from types import FrameType

from paprle.config import Resolved
from paprle.interfaces import Leader
from paprle.loop import DeadlineLoop, freeze_garbage, request_realtime
from paprle.mailbox import Mailbox
from paprle.process import Role, is_closed, run_role
from paprle.session.feedback_wire import FEEDBACK, unpack_feedback
from paprle.session.plan import make_leader, make_robot
from paprle.wire import make_layout, pack_sample


class LeaderHost:
    """One leader and its shared memory."""

    def __init__(self, role: Role) -> None:
        resolved = Resolved.from_dict(role.payload["config"])
        robot = make_robot(resolved)
        self._leader: Leader = make_leader(resolved)
        self._layout = make_layout(robot.info, self._leader.info)
        self._role = role
        self._samples = Mailbox(self._layout.sample, role.fds["sample"])
        self._feedback = Mailbox(FEEDBACK, role.fds["feedback"])
        self._rate = resolved.session.rate
        self._must_end = False

    def run(self) -> None:
        """Run until the session ends or dies, or the device fails."""
        signal.signal(signal.SIGTERM, self._ask_end)
        try:
            self._leader.open()
            request_realtime()
            freeze_garbage()
            notes = tuple(getattr(self._leader, "notes", ()))
            self._role.report("ready", notes=list(notes))
            self._loop()
        finally:
            self._leader.close()

    def _loop(self) -> None:
        loop, seq = DeadlineLoop(self._rate), -1
        while not self._must_end and not is_closed(self._role.fds["session_alive"]):
            feedback = self._feedback.read()
            if feedback is not None:
                self._leader.apply(unpack_feedback(feedback))
            sample = self._leader.latest()
            if sample is not None and sample.seq != seq:
                seq = sample.seq
                self._samples.write(pack_sample(self._layout, sample))
            loop.wait()

    def _ask_end(self, _signal: int, _frame: FrameType | None) -> None:
        self._must_end = True


def main(role: Role) -> None:
    """Host the leader."""
    LeaderHost(role).run()


if __name__ == "__main__":
    run_role(main)
