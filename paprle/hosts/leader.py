"""The leader process: owns the operator's device and posts its newest sample.

Where the leader has motors, a feedback thread beside this loop renders torques. It sees
the gate's status, which the gate writes for the session and this process alike. Every
leader is given cues and a rumble, made from that status.
"""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING

from paprle.contracts.plugins import Leader
from paprle.contracts.types import Feedback
from paprle.haptics.cues import CueSource
from paprle.hosts.factories import make_leader, read_payload
from paprle.ipc.feedback_record import FEEDBACK, unpack_feedback
from paprle.ipc.loop import DeadlineLoop, freeze_garbage, request_realtime
from paprle.ipc.mailbox import Mailbox, Newest
from paprle.ipc.process import Role, is_closed, run_role
from paprle.ipc.records import Record, make_layout, pack_sample

if TYPE_CHECKING:
    from paprle.haptics.thread import FeedbackThread

_NO_FEEDBACK = (
    "feedback: off, and the leader is limp: its follower is on another host (link.peer)"
)


class LeaderHost:
    """One leader and its shared memory."""

    def __init__(self, role: Role) -> None:
        resolved, robot = read_payload(role.payload)
        self._leader: Leader = make_leader(resolved)
        self._layout = make_layout(robot, self._leader.info)
        self._role = role
        self._samples = Mailbox(self._layout.sample, role.fds["sample"])
        feedback = Mailbox(FEEDBACK, role.fds["feedback"])
        self._feedback = Newest(feedback, unpack_feedback)
        self._status = Newest(Mailbox(self._layout.status, role.fds["status"]), _keep)
        self._cues = CueSource(
            robot, self._layout, resolved.feedback, resolved.gate.clearance_scene
        )
        self._rate = resolved.session.rate
        self._must_end = False
        self._notes: list[str] = []
        self._thread: FeedbackThread | None = None
        has_motors = self._leader.info.renders == "torque"
        if has_motors and resolved.link.peer is None:
            # models and kernels, which other leaders need not wait for
            from paprle.hosts.rendering import make_thread  # noqa: PLC0415

            self._thread, self._notes = make_thread(
                resolved, self._leader, self._layout, role, self._read_feedback
            )
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

    def _read_feedback(self) -> Feedback | None:
        """Return what the session says, with what the follower meets."""
        told = self._feedback.read()
        if told is None:
            return None
        return self._cues.add(told, time.monotonic_ns(), self._status.read())

    def _ask_end(self, _signal: int, _frame: FrameType | None) -> None:
        self._must_end = True


def _keep(record: Record) -> Record:
    return record


def main(role: Role) -> None:
    """Host the leader."""
    LeaderHost(role).run()


if __name__ == "__main__":
    run_role(main)
