"""The process of one leader: samples, feedback and cues."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from paprle.config import Resolved
from paprle.contracts.far_leader import FAR, FarLeader, tells_life
from paprle.contracts.observing_leader import SeeingLeader, Window
from paprle.contracts.operator.requests import Wishes
from paprle.contracts.plugins import Leader
from paprle.contracts.types import Feedback, RobotInfo
from paprle.haptics.cues import CueSource
from paprle.hosts.factories import (
    list_objects,
    list_placed,
    make_leader,
    read_payload,
)
from paprle.ipc.feedback_record import make_feedback_dtype, unpack_feedback
from paprle.ipc.loop import (
    SESSION_TURN,
    DeadlineLoop,
    freeze_garbage,
    request_realtime,
)
from paprle.ipc.mailbox import Mailbox, Newest
from paprle.ipc.ports import name_port, split_name
from paprle.ipc.process import Role, is_closed, run_role
from paprle.ipc.records import Record, make_layout, pack_sample
from paprle.ipc.wishes_record import WISHES, make_wishes_dtype, unpack_wishes
from paprle.reconstruction.reconstruction import choose_policy

if TYPE_CHECKING:
    from paprle.haptics.thread import FeedbackThread
    from paprle.hosts.two_hosts.remote_contact import Holding
    from paprle.hosts.views.view import ViewReader

_TURN = 0.0005  # [s] measured: 0.2 ms and what it wakes late; adapted from there
_REST_NS = 20_000_000  # chosen: a fifth of session.max_gap, unnoticed by a person
_NO_FEEDBACK = (
    "feedback: off, and the leader is limp: its follower is on another host (link.peer)"
)


class LeaderHost:
    """One leader and its shared memory."""

    def __init__(self, role: Role) -> None:
        resolved, robot = read_payload(role.payload)
        _, name = split_name(role.payload["name"])
        self._leader: Leader = make_leader(resolved, name=name, robot=robot)
        self._hands = self._find_page(role, resolved, robot)
        if isinstance(self._leader, SeeingLeader):
            # a model of the robot, which other leaders need not wait for
            from paprle.hosts.views.view import SightReader  # noqa: PLC0415

            sight = SightReader(role, resolved, robot, resolved.session.rate)
            window = Window(
                lambda: sight.read(time.monotonic_ns()),
                sight.cameras,
                list_objects(resolved),
                is_waited_for=False,
            )
            self._leader.watch(window)
        self._layout = make_layout(robot, self._leader.info, list_objects(resolved))
        self._role = role
        self._samples = Mailbox(
            self._layout.sample, role.fds[name_port("sample", name)]
        )
        first = role.payload.get("first_rows", {}).get(name, 0)
        self._rows = range(first, first + len(self._leader.info.limbs))
        feedback = Mailbox(
            make_feedback_dtype(len(self._layout.limbs)), role.fds["feedback"]
        )
        self._feedback = Newest(feedback, self._unpack)
        self._driven: tuple[bool, ...] = ()
        self._status = Newest(Mailbox(self._layout.status, role.fds["status"]), _keep)
        self._cues = CueSource(
            robot, self._layout, resolved.feedback, resolved.gate.clearance_scene
        )
        self._rate = resolved.session.rate
        samples = resolved.retarget.samples
        self._says_it_lives = choose_policy(self._leader.info, samples) is not None
        self._view: ViewReader | None = None
        self._holding: Holding | None = None
        self._show_ns = 0
        if isinstance(self._leader, FarLeader) and self._leader.view_rate:
            # words for the gate's reasons, which other leaders need not load
            from paprle.hosts.views.view import ViewReader  # noqa: PLC0415

            self._view = ViewReader(role, resolved, robot)
            if any(map(self._leader.info.emits_poses, self._leader.info.limbs)):
                from paprle.hosts.two_hosts.remote_contact import Holding  # noqa: PLC0415 - likewise

                self._holding = Holding(role, resolved, self._leader.info, self._layout)
        self._notes: list[str] = []
        self._thread: FeedbackThread | None = None
        has_motors = self._leader.info.renders == "torque"
        if has_motors and not resolved.is_gate_afar:
            # models and kernels, which other leaders need not wait for
            from paprle.hosts.processes.rendering import make_thread  # noqa: PLC0415

            self._thread, self._notes = make_thread(
                resolved, self._leader, self._layout, role, self._read_feedback
            )
        elif (
            has_motors
        ):  # forces cross the other cut (``paprle.hosts.two_hosts.remote_haptics``)
            self._notes.append(_NO_FEEDBACK)

    def run(self) -> None:
        """Run until the session ends or the device fails."""
        try:
            if self._thread is not None:
                request_realtime()  # servos are asked with deadlines from the first on
            self._leader.open()
            self._be_punctual()
            freeze_garbage()
            notes = (*self._leader.notes, *self._notes)
            self._role.report("ready", notes=list(notes))
            if self._thread is not None:
                self._thread.start()
            self._loop()
        finally:
            try:
                self._end_thread()
            finally:  # whatever the thread did not do, torque is switched off
                self._leader.close()
                for text in self._leader.closing_notes:
                    self._role.report("summary", message=text)

    def _end_thread(self) -> None:
        if self._thread is not None:
            self._thread.close()
            self._role.report("summary", message=self._thread.summarise())

    def _be_punctual(self) -> None:
        # A torque is as late as the latest of those between a motion and its answer.
        request_realtime()
        if self._thread is not None:
            for thread in threading.enumerate():
                request_realtime(thread.native_id or 0)

    def _loop(self) -> None:
        loop, seq = DeadlineLoop(self._rate, turn=_TURN, ahead=SESSION_TURN), -1
        full_ns = loop.period_ns
        while not is_closed(self._role.fds["session_alive"]):
            sample = self._leader.latest()
            is_new = sample is not None and sample.seq != seq
            lives = self._says_it_lives and tells_life(self._leader)
            if sample is not None and (is_new or lives):
                seq = sample.seq
                alive_ns = time.monotonic_ns() if lives else 0
                self._samples.write(pack_sample(self._layout, sample, alive_ns))
                loop.give_time(time.monotonic_ns() - loop.deadline_ns)
            if self._thread is None or not self._thread.is_alive():
                feedback = self._read_feedback()
                if feedback is not None:
                    self._leader.apply(feedback)
            self._listen()
            if (told := self._feedback.read()) is not None:
                loop.work_for(told.stamp_ns)
            self._show()
            for text in self._leader.take_warnings():
                self._role.report("trouble", message=text)
            is_at_rest = self._leader.is_at_rest
            loop.period_ns = max(full_ns, _REST_NS) if is_at_rest else full_ns
            loop.wait()

    def _find_page(
        self, role: Role, resolved: Resolved, robot: RobotInfo
    ) -> list[Newest[Wishes]]:
        pages = [k for k in role.fds if split_name(k)[0] == WISHES]
        if not self._leader.is_at_page:
            return []
        dtype = make_wishes_dtype(robot, list_placed(resolved))
        return [Newest(Mailbox(dtype, role.fds[k]), unpack_wishes) for k in pages]

    def _listen(self) -> None:
        for page in self._hands:
            wishes = page.read()
            if wishes is not None and wishes.hands is not None:
                self._leader.hear(wishes.hands)

    def _show(self) -> None:
        leader, now_ns = self._leader, time.monotonic_ns()
        if self._view is None or not isinstance(leader, FarLeader):
            return
        if self._holding is not None and leader.has_forces:
            self._holding.look()
        if now_ns < self._show_ns:
            return
        self._show_ns = now_ns + round(1e9 / leader.view_rate)
        if (told := leader.take_told()) is not None:
            self._role.report(FAR, **told)
        view = self._view.read(now_ns)
        if view is not None:
            holds = () if self._holding is None else self._holding.find(now_ns)
            leader.observe(replace(view, holds=holds))

    def _unpack(self, record: Record) -> Feedback:
        driven = tuple(int(row) in self._rows for row in record["driver"])
        if driven != self._driven:
            self._driven = driven
            self._cues.choose_limbs(driven)
        return unpack_feedback(record, self._rows)

    def _read_feedback(self) -> Feedback | None:
        told = self._feedback.read()
        if told is None:
            return None
        return self._cues.add(told, time.monotonic_ns(), self._status.read())


def _keep(record: Record) -> Record:
    return record


def main(role: Role) -> None:
    """Host the leader."""
    LeaderHost(role).run()


if __name__ == "__main__":
    run_role(main)
