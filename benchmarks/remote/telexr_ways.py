"""Ways of leading a robot over a bad network.

``Plain`` sends positions: ``none`` obeys all, late ones too; ``hold`` the newest;
``velocity`` extrapolates, at the robot and in the display. ``Ours`` is the product:
``paprle lead`` with its mirror image, the link, and reconstruction; its picture is the
present robot's. TeleXR's (T13), of the newest capture, is for comparison. The robot is
ideal, so all error is the way's.
"""

from __future__ import annotations

import struct
from typing import Protocol

import numpy as np
import pinocchio as pin

from paprle.contracts.session_view import HeldHand, SessionView
from paprle.contracts.types import (
    GateState,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
    SessionState,
    Vec,
)
from paprle.hosts.two_hosts.far_watch import FarWatch
from paprle.ipc.records import SampleView, make_layout, pack_sample
from paprle.leaders.remote.leader import RemoteLeader
from paprle.link.remote_leader.operator_side import OperatorSide
from paprle.link.remote_leader.robot_side import RobotSide, make_far_info
from paprle.reconstruction.reconstruction import Reconstruction
from paprle.robot.empty_robot import NOBODY

RATE = 60.0  # [Hz] chosen: a tracker of hands
WORD_NS = round(1e9 / RemoteLeader.view_rate)
"""Between two words of the robot, [ns]."""
_REPEATS = 3  # as ``link.repeats``
_LONGEST = 0.3  # [s] chosen: a velocity says nothing of what is farther
_HAND = make_far_info(LeaderInfo(limbs=("hand",), is_human=False, rate=RATE))
_KEY = b"a secret of thirty-two bytes ..."
_SKEW_NS = 5 * 10**12  # [ns] chosen: by which the robot's clock is ahead
_WORD = struct.Struct("<qq3d")  # when it left, the newest capture it knows of, a place
_ROOM = bytes(62)  # what header and seal take
_NONE: Vec = np.zeros(0)


class Way(Protocol):
    """Both hosts of one way, in virtual time.

    Attributes:
        robot: (3,), [m], or None.
        taken: Stamps of captures that the robot took.
        late_ns: Delay of its motion, [ns].
        heard: Newest confirmed capture; 0: none.
        led: Robot at the newest capture, (3,), [m], or None.
    """

    robot: Vec | None
    n_captured: int
    taken: set[int]
    late_ns: int
    heard: int
    led: Vec | None

    def operate(self, data: list[bytes], T: pin.SE3, now_ns: int) -> list[bytes]:
        """Return the operator's datagrams for arrived ones and the hand's T."""

    def act(self, data: list[bytes], now_ns: int) -> list[bytes]:
        """Return the robot's datagrams."""

    def draw(self, now_ns: int) -> Vec | None:
        """Return the displayed position, (3,), [m], or None."""


class _Captures:
    def __init__(self) -> None:
        self.n = self._due_ns = 0

    def is_due(self, now_ns: int) -> bool:
        """Return whether a capture is due."""
        if now_ns < self._due_ns:
            return False
        self._due_ns, self.n = now_ns + round(1e9 / RATE), self.n + 1
        return True


class Plain:
    """A way without reconstruction."""

    late_ns = 0
    led = None

    def __init__(self, kind: str) -> None:
        self.robot: Vec | None = None
        self.taken: set[int] = set()
        self.heard = 0
        self._kind, self._captures = kind, _Captures()
        self._asked: list[tuple[int, Vec]] = []
        self._seen: list[tuple[int, Vec]] = []

    @property
    def n_captured(self) -> int:
        """Number of captures."""
        return self._captures.n

    def operate(self, data: list[bytes], T: pin.SE3, now_ns: int) -> list[bytes]:
        """See ``Way``."""
        for told_ns, captured_ns, *p in map(_WORD.unpack_from, data):
            self.heard = max(self.heard, captured_ns)
            if self._counts(self._seen, told_ns):  # over a few: a staircase has one
                self._seen = [*self._seen[-4:], (told_ns, np.array(p))]
        is_due = self._captures.is_due(now_ns)
        return [_pack(now_ns, now_ns, T.translation)] if is_due else []

    def act(self, data: list[bytes], now_ns: int) -> list[bytes]:
        """See ``Way``."""
        for captured_ns, _, *p in map(_WORD.unpack_from, data):
            if self._counts(self._asked, captured_ns):
                self._asked = [*self._asked[-1:], (captured_ns, np.array(p))]
                self.taken.add(captured_ns)
        if not self._asked:
            return []
        self.robot = self._find(self._asked, now_ns)
        is_word = now_ns % WORD_NS == 0
        return [_pack(now_ns, self._asked[-1][0], self.robot)] if is_word else []

    def draw(self, now_ns: int) -> Vec | None:
        """See ``Way``."""
        return self._find(self._seen, now_ns) if self._seen else None

    def _counts(self, known: list[tuple[int, Vec]], stamp_ns: int) -> bool:
        return self._kind == "none" or not known or stamp_ns > known[-1][0]

    def _find(self, known: list[tuple[int, Vec]], now_ns: int) -> Vec:
        (begin_ns, first), (end_ns, last) = known[0], known[-1]
        if self._kind != "velocity" or begin_ns >= end_ns:
            return last
        v = (last - first) / (end_ns - begin_ns)
        return np.asarray(last + v * min(now_ns - end_ns, _LONGEST * 1e9))


class Ours:
    """The product on both hosts."""

    def __init__(self) -> None:
        self.robot: Vec | None = None
        self.led: Vec | None = None
        self.taken: set[int] = set()
        self.heard = 0
        self._captures = _Captures()
        self._near = OperatorSide(_KEY, _HAND, _REPEATS)
        self._watch = FarWatch(self._near)
        self._far = RobotSide(_KEY, _HAND)
        layout = make_layout(NOBODY, _HAND)
        self._layout, self._view = layout, SampleView(layout)
        self._motion = Reconstruction(layout, "ordered")
        self._sample: LeaderSample | None = None

    @property
    def n_captured(self) -> int:
        """Number of captures."""
        return self._captures.n

    @property
    def late_ns(self) -> int:
        """Lateness of its motion behind captures, [ns]."""
        return round(self._motion.delays[0].delay * 1e9)

    def operate(self, data: list[bytes], T: pin.SE3, now_ns: int) -> list[bytes]:
        """See ``Way``; as ``Lead.step``."""
        if self._captures.is_due(now_ns):
            limbs = {"hand": LimbCommand(T_leader_base_leader_eef=T)}
            seq = self._captures.n
            self._sample = LeaderSample(stamp_ns=now_ns, seq=seq, limbs=limbs)
        if self._sample is not None:
            self._watch.note_sample(self._sample, now_ns)
        view = self._near.step(data, self._sample, now_ns)
        if view is not None:
            self._watch.note_view(view, now_ns)
            self.heard = max(self.heard, view.captured_ns)
        return self._near.take_outbox()

    def act(self, data: list[bytes], now_ns: int) -> list[bytes]:
        """See ``Way``; as a session with ``leader=remote``."""
        now_ns += _SKEW_NS
        sample = self._far.step(data, now_ns)
        if sample is None or not sample.valid:  # the operator has no state yet
            if now_ns % WORD_NS == 0:
                self._far.send_view(_describe(0, None, now_ns), now_ns)
        else:
            self.taken.add(self._far.guard.find_sent(sample.stamp_ns))
            record = pack_sample(self._layout, sample, now_ns)
            self._motion.note(0, record, now_ns)
            self._view.update(record)
            moved = self._motion.follow(self._view, [sample.seq], [True], now_ns)
            self.robot = np.array(moved.pose[0, :3])
            if now_ns % WORD_NS == 0:
                view = _describe(sample.stamp_ns, np.array(moved.pose[0]), now_ns)
                self._far.send_view(view, now_ns)
        return self._far.take_outbox()

    def draw(self, now_ns: int) -> Vec | None:
        """See ``Way``."""
        self._watch.is_due(now_ns)
        T = self._watch.predicted.get(0)
        for mirror in self._watch.mirrors.values():
            newest = self._sample
            captured_ns = 0 if newest is None else newest.stamp_ns
            led = mirror.filter.predict(captured_ns).T_base_eef
            self.led = np.array(led.translation)
        return None if T is None else np.array(T.translation)


def make_way(kind: str) -> Way:
    """Return both hosts of a named way."""
    return Ours() if kind == "ours" else Plain(kind)


def _pack(told_ns: int, captured_ns: int, p: Vec) -> bytes:
    return _WORD.pack(told_ns, captured_ns, *p.tolist()) + _ROOM


def _describe(captured_ns: int, pose: Vec | None, now_ns: int) -> SessionView:
    nil, turn = np.zeros(6), np.array([0.0, 0.0, 0.0, 1.0])
    return SessionView(
        stamp_ns=now_ns,
        state=SessionState.ENGAGED,
        episode=1,
        captured_ns=captured_ns,
        posted_ns=now_ns,
        computed_ns=0,
        targets={},
        drivers={},
        q_des=_NONE,
        gate_state=GateState.ENGAGED,
        reasons=(),
        latched="",
        counts={},
        written_ns=now_ns,
        q_cmd=_NONE,
        dq_cmd=_NONE,
        measured_ns=now_ns,
        q=_NONE,
        dq=_NONE,
        tau=_NONE,
        objects={},
        leader_age=0.0,
        tick_age=0.0,
        gate_age=0.0,
        holds=() if pose is None else (HeldHand(0, 0.0, pose, nil, 0, turn, 1.0),),
    )
