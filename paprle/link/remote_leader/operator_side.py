"""Operator's side of a remote session."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from paprle.contracts.types import Feedback, LeaderInfo, LeaderSample
from paprle.link.leader_end import LeaderEnd
from paprle.link.mirror import LEADER_CUT
from paprle.link.remote_leader.capture_sender import CaptureSender
from paprle.link.remote_leader.engagement import StateWatch
from paprle.link.remote_leader.error_report import (
    MOST_ROWS,
    ErrorRow,
    StreamCounts,
    pack_errors,
)
from paprle.link.remote_leader.robot_side import list_absolute, make_leader_terms
from paprle.link.remote_leader.robot_view import RobotView, unpack_view

_SILENT_NS = 6_000_000_000  # [ns] chosen: the robot has given us up a second ago
_N_BYES = 5  # chosen: some may be lost
_TELL_NS = 250_000_000  # [ns] chosen: a row of one hand is told four times in a second


def describe_remote(info: LeaderInfo, *, has_forces: bool = False) -> str:
    """Return the leader's settings at the robot, as text."""
    words = ["leader=remote", f"leader.limbs='[{', '.join(info.limbs)}]'"]
    words += [f"leader.gripper={str(info.has_gripper).lower()}"]
    words += ["leader.forces=true"] if has_forces else []
    words += [] if info.is_human else ["leader.human=false"]
    absolute = list_absolute(info)
    words += [f"leader.absolute='[{', '.join(absolute)}]'"] if absolute else []
    words += ["leader.deadman=false"] if info.is_human and not info.has_deadman else []
    words += ["leader.trigger=true"] if info.has_trigger else []
    words += [] if info.emits == "pose" else [f"leader.emits={info.emits}"]
    for key, names in (("joints", info.joint_names), ("axes", info.axes)):
        words += [
            f"leader.{key}.{limb}='[{', '.join(own)}]'" for limb, own in names.items()
        ]
    return " ".join(words)


class OperatorSide:
    """Operator's end of the link, without socket or clock."""

    def __init__(self, key: bytes, info: LeaderInfo, repeats: int) -> None:
        self.view: RobotView | None = None
        self.view_ns, self.view_data = 0, b""
        self._key, self._info, self._repeats = key, info, repeats
        self._before, self.watch = StreamCounts(), StateWatch()
        self._was_released, self._words = True, list[str]()
        self._n_rows, self._n_told, self._n_words = 0, 0, 0
        self._told_ns = 0
        self._begin()

    def step(
        self, data: list[bytes], sample: LeaderSample | None, now_ns: int
    ) -> RobotView | None:
        """Take datagrams, send the newest sample; return a new view."""
        end = self.end
        end.receive(data, now_ns)
        view = self._take_view(now_ns)
        is_silent = end.heard_ns and now_ns - end.heard_ns > _SILENT_NS
        if end.has_left or is_silent:  # the next session there knows nothing of this
            self._before = self.counts
            self._begin()
            return None
        is_released = self.watch.is_released(now_ns)
        self._note_release(is_released=is_released, now_ns=now_ns)
        self.sender.step(sample, now_ns, is_released=is_released)
        self._tell(now_ns)
        return view

    def take_words(self) -> list[str]:
        """Return new notes for the operator."""
        words, self._words = self._words, []
        return words

    def _note_release(self, *, is_released: bool, now_ns: int) -> None:
        if is_released == self._was_released:
            return
        self._was_released = is_released
        silence = self.watch.find_silence(now_ns)
        self._words.append(
            f"no state from the robot for {silence:.1f} s: released"
            if is_released
            else "state from the robot comes: engage to lead it"
        )

    def _take_view(self, now_ns: int) -> RobotView | None:
        packet = self.end.whole.pop("tick", None)
        if packet is None:
            return None
        self._n_words = packet.seq
        view = unpack_view(packet.payload)
        if view is None:
            return None
        if self._is_ahead(view, now_ns):
            self.end.refused["stamped ahead"] += 1
            return None
        age_ns = self.end.clock.compute_age(packet, view.stamp_ns, now_ns)
        self.watch.note(view.stamp_ns, age_ns, now_ns)
        self.view, self.view_ns, self.view_data = view, now_ns, packet.payload
        return view

    @property
    def counts(self) -> StreamCounts:
        """Counts of each stream."""
        before, n_got = self._before, self.end.n_got["tick"]
        return StreamCounts(
            captures_sent=before.captures_sent + self.sender.n_sent,
            captures_lost=0 if self.view is None else self.view.n_lost,
            words_sent=before.words_sent + self._n_words,
            words_got=before.words_got + n_got,
        )

    def note_errors(self, rows: Iterable[ErrorRow]) -> None:
        """Queue measured errors for the robot's host."""
        for row in rows:
            self._n_rows += 1
            self._rows.append(row)

    def _is_ahead(self, view: RobotView, now_ns: int) -> bool:
        told = (view.stamp_ns, view.measured_ns)
        to_past = self.end.clock.to_past
        is_known = all(to_past(stamp_ns, now_ns) is not None for stamp_ns in told)
        return not is_known or view.captured_ns > now_ns

    def _tell(self, now_ns: int) -> None:
        if self._n_rows == self._n_told or now_ns - self._told_ns < _TELL_NS:
            return
        self._told_ns, self._n_told = now_ns, self._n_rows
        payload = pack_errors(self._n_rows, self._rows, self.counts, now_ns)
        self.end.send_whole("errors", payload, now_ns)

    def _begin(self) -> None:
        self.watch.forget()
        self._rows: deque[ErrorRow] = deque(maxlen=MOST_ROWS)
        self._n_rows = self._n_told = self._n_words = 0
        terms: Mapping[str, str] = make_leader_terms(self._info)
        self.end: LeaderEnd = LeaderEnd(self._key, LEADER_CUT, terms, is_recorded=False)
        self.sender: CaptureSender = CaptureSender(self.end, self._info, self._repeats)

    def send_disconnects(self, now_ns: int) -> None:
        """Announce that the operator leaves."""
        for _ in range(_N_BYES):
            self.end.send_bye(now_ns)

    def take_outbox(self) -> list[bytes]:
        """Return the datagrams to send, each once."""
        outbox, self.end.outbox = self.end.outbox, []
        return outbox


def make_feedback(view: RobotView, now_ns: int) -> Feedback:
    """Return the feedback to the operator's device."""
    return Feedback(
        stamp_ns=now_ns,
        state=view.state,
        episode=view.episode,
        is_engaged=view.is_engaged,
        rumble=view.rumble,
        touch=view.touch,
        warning=view.warning,
    )
