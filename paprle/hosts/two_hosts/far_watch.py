"""Prediction of a remote robot and its error, in hands' axes."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from paprle.contracts.types import GateState, LeaderSample
from paprle.ipc.records import row_to_pose
from paprle.link.remote_leader.discrepancy import Discrepancy
from paprle.link.remote_leader.operator_side import OperatorSide
from paprle.link.remote_leader.robot_view import RobotView
from paprle.reconstruction.hand_mirror import HandMirror

SHOW_NS = 20_000_000
"""Time between two pictures, [ns], chosen: a screen shows no more than every other."""
_AHEAD_NS = 1_000_000_000  # [ns] spec: safety.md A1, ±1 s


class FarWatch:
    """Predicts a remote robot; measures errors of hand, robot and picture.

    Attributes:
        predicted: Present pose by hand, in the hand's axes.
    """

    def __init__(self, side: OperatorSide) -> None:
        self.errors = Discrepancy()
        self.predicted: dict[int, pin.SE3] = {}
        self.held: set[int] = set()
        self.period_ns = SHOW_NS
        self._side = side
        self.mirrors: dict[int, HandMirror] = {}
        self._stamp_ns = self._shown = 0

    def note_sample(self, sample: LeaderSample, now_ns: int) -> None:
        """Take a sample, unless old or of the future."""
        is_ahead = sample.stamp_ns - now_ns > _AHEAD_NS
        if sample.stamp_ns <= self._stamp_ns or is_ahead:
            return
        self.errors.note_sample(sample)
        self._stamp_ns = sample.stamp_ns
        for place, command in enumerate(sample.limbs.values()):
            T = command.T_leader_base_leader_eef
            if T is not None and place in self.mirrors:
                self.mirrors[place].ask(sample.stamp_ns, T)

    def note_view(self, view: RobotView, now_ns: int) -> None:
        """Take a view of the robot; send errors."""
        measured_ns = self._side.end.clock.to_past(view.measured_ns, now_ns)
        if measured_ns is None:  # the link's end has refused and counted it
            return
        led = {one.limb for one in view.holds}
        self.mirrors = {k: m for k, m in self.mirrors.items() if k in led}
        for one in view.holds:
            self.mirrors.setdefault(one.limb, HandMirror()).hear(
                measured_ns,
                view.captured_ns,
                row_to_pose(one.pose),
                may_follow=view.gate_state is GateState.ENGAGED,
            )
        rows = self.errors.note_view(view.holds, measured_ns, view.captured_ns, now_ns)
        self._side.note_errors(rows)

    def is_due(self, now_ns: int) -> bool:
        """Return whether a picture is due, and make it."""
        number = now_ns // self.period_ns  # by the clock, as who draws it knows it
        if number == self._shown:
            return False
        self._shown = number
        shown = {place: one.show(now_ns) for place, one in self.mirrors.items()}
        self.predicted = {k: T for k, T in shown.items() if T is not None}
        self.held = {k for k in self.predicted if self.mirrors[k].is_held}
        for place, T in self.predicted.items():
            self.errors.note_predicted(place, np.array(T.translation), now_ns)
        return True
