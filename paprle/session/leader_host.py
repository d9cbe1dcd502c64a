"""The leader process: owns the operator's device and posts its newest sample.

Where the leader has motors, a feedback thread beside this loop renders torques. It sees
the gate's status, which the gate writes for the session and this process alike.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

from paprle.config import Resolved
from paprle.config.layers import TRIPLE
from paprle.config.measured import say_others
from paprle.haptics.haptics import make_haptics
from paprle.haptics.thread import FeedbackThread, Sources
from paprle.interfaces import Leader
from paprle.loop import DeadlineLoop, freeze_garbage, request_realtime
from paprle.mailbox import Mailbox
from paprle.process import Role, is_closed, run_role
from paprle.retarget import RetargetState
from paprle.robot import RobotModel
from paprle.session.feedback_wire import (
    FEEDBACK,
    make_anchors_dtype,
    unpack_anchors,
    unpack_feedback,
)
from paprle.session.plan import (
    make_feedback,
    make_leader,
    make_robot,
    make_through,
)
from paprle.types import Feedback
from paprle.wire import make_layout, pack_sample

_NO_FEEDBACK = (
    "feedback: off, and the leader is limp: its follower is on another host (link.peer)"
)


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
        self._notes: list[str] = []
        self._thread: FeedbackThread | None = None
        has_motors = self._leader.info.renders == "torque"
        if has_motors and resolved.link.peer is None:
            self._thread = self._make_thread(resolved, robot)
        elif has_motors:  # no law is stable over any delay (F2)
            self._notes.append(_NO_FEEDBACK)

    def run(self) -> None:
        """Run until the session ends or dies, or the device fails."""
        signal.signal(signal.SIGTERM, self._ask_end)
        try:
            if self._thread is not None:
                request_realtime()  # servos are asked with deadlines from the first on
            self._leader.open()
            self._be_punctual()
            freeze_garbage()
            notes = (*getattr(self._leader, "notes", ()), *self._notes)
            self._role.report("ready", notes=list(notes))
            if self._thread is not None:
                self._thread.start()
            self._loop()
        finally:
            try:
                self._end_thread()
            finally:  # whatever the thread did not do, torque is switched off
                self._leader.close()
                # A plug-in may offer ``last_words``: what the operator is told at last.
                for text in getattr(self._leader, "last_words", ()):
                    self._role.report("summary", message=text)

    def _end_thread(self) -> None:
        if self._thread is not None:
            self._thread.close()
            self._role.report("summary", message=self._thread.summarise())

    def _be_punctual(self) -> None:
        """Ask for real time; where torques are rendered, for the device's threads, too.

        A torque is as late as the latest of those between a motion and its answer.
        """
        request_realtime()
        if self._thread is not None:
            for thread in threading.enumerate():
                request_realtime(thread.native_id or 0)

    def _make_thread(self, resolved: Resolved, robot: RobotModel) -> FeedbackThread:
        """Make the feedback thread; refuses laws that would not be stable."""
        leader, layout = self._leader, self._layout
        haptics = make_haptics(
            make_feedback(resolved, leader.info),
            robot,
            leader.info,
            resolved.retarget,
            layout,
            make_through(resolved),
        )
        self._notes.append(haptics.describe())
        names = {part: getattr(resolved, f"{part}_name") for part in TRIPLE}
        others = list(say_others(resolved.feedback.rig.measured_with, names))
        self._notes += others
        if not (haptics.is_measured or others):
            triple = " ".join(f"{part}={name}" for part, name in names.items())
            self._notes.append(
                f"feedback: measure this rig to feel more: paprle identify {triple}"
            )
        fds = self._role.fds
        anchors = Mailbox(make_anchors_dtype(len(layout.limbs)), fds["anchors"])
        status = Mailbox(layout.status, fds["status"])
        return FeedbackThread(
            haptics,
            leader,
            Sources(self._read_feedback, _Anchors(anchors).read, status.read),
            resolved.feedback.rate,
            lambda text: self._role.report("trouble", message=f"feedback: {text}"),
        )

    def _read_feedback(self) -> Feedback | None:
        record = self._feedback.read()
        return None if record is None else unpack_feedback(record)

    def _loop(self) -> None:
        loop, seq = DeadlineLoop(self._rate), -1
        # A plug-in may offer ``take_warnings``: what went wrong since the last call.
        take_warnings = getattr(self._leader, "take_warnings", tuple)
        while not self._must_end and not is_closed(self._role.fds["session_alive"]):
            if self._thread is None or not self._thread.is_alive():
                feedback = self._read_feedback()
                if feedback is not None:
                    self._leader.apply(feedback)
            sample = self._leader.latest()
            if sample is not None and sample.seq != seq:
                seq = sample.seq
                self._samples.write(pack_sample(self._layout, sample))
            for text in take_warnings():
                self._role.report("trouble", message=text)
            loop.wait()

    def _ask_end(self, _signal: int, _frame: FrameType | None) -> None:
        self._must_end = True


class _Anchors:
    """What engaging fixed, unpacked once each time that it changes."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox, self._count = mailbox, 0
        self._newest: RetargetState | None = None

    def read(self) -> RetargetState | None:
        """Return the newest; None before the first."""
        count = self._mailbox.count
        if count != self._count:
            record = self._mailbox.read()
            if record is not None:
                self._newest, self._count = unpack_anchors(record), count
        return self._newest


def main(role: Role) -> None:
    """Host the leader."""
    LeaderHost(role).run()


if __name__ == "__main__":
    run_role(main)
