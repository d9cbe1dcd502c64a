"""Display of a remote robot without jumps (T13)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.session_view import MirroredRobot
from paprle.contracts.types import RobotInfo, Vec
from paprle.reconstruction.mirror import HORIZON_NS, PoseFilter, Predicted
from paprle.reconstruction.mirror_lag import MirrorLag, interpolate
from paprle.reconstruction.mirror_motion import StampedHistory

_EASE = 0.1  # [s] chosen: in which two thirds of a correction are shown
_RETREAT = np.array([0.1, 0.5])  # [m/s], [rad/s] chosen: seen as a motion, no jump
_FRESH_NS = 30_000_000  # [ns] chosen: two frames of a screen; older is predicted


class Word(NamedTuple):
    """State received from the robot, in this host's time.

    Attributes:
        used_ns: Time at which its set-point was posted; 0: unknown.
    """

    written_ns: int
    measured_ns: int
    used_ns: int
    q: Vec
    Ts_base_eef: Mapping[str, pin.SE3]
    may_follow: bool


class RobotMirror:
    """Mirror image of a robot, with one filter per limb."""

    def __init__(self, robot: RobotInfo) -> None:
        self.filters = {limb.name: PoseFilter() for limb in robot.limbs}
        self._robot = robot
        self._asked: StampedHistory[Vec] = StampedHistory()
        self._word: Word | None = None
        self._lag = MirrorLag()
        self._found: dict[str, Predicted] = {}
        self._easings = {name: Easing() for name in self.filters}
        self._shown_ns = self._at_ns = 0
        self._q: Vec | None = None

    @property
    def lag_ns(self) -> int:
        """Age of the shown motion, [ns]."""
        return self._lag.ns

    def ask(self, stamp_ns: int, q: Vec, Ts_base_eef: Mapping[str, pin.SE3]) -> None:
        """Take requested joints, (n,), and poses."""
        if not np.isfinite(q).all():
            return
        self._asked.add(stamp_ns, np.array(q))
        for name, own in self.filters.items():
            own.asked.add(stamp_ns, Ts_base_eef[name])

    def hear(self, word: Word) -> None:
        """Take a finite, newer state."""
        last = self._word
        is_newer = last is None or word.measured_ns > last.measured_ns
        if not is_newer or not np.isfinite(word.q).all():
            return
        self._follow_lag(word)
        self._word = word
        for name, own in self.filters.items():
            own.update(
                word.measured_ns - self.lag_ns,
                word.Ts_base_eef[name],
                may_follow=word.may_follow,
            )

    def show(self, now_ns: int) -> MirroredRobot | None:
        """Return the robot to show."""
        word = self._word
        if word is None:
            return None
        before_ns, self._at_ns = self._at_ns, max(self._at_ns, now_ns - self.lag_ns)
        dt = (now_ns - self._shown_ns) * 1e-9 if self._shown_ns else math.inf
        self._shown_ns = now_ns
        found = {name: own.predict(self._at_ns) for name, own in self.filters.items()}
        self._found = found
        poses = {
            name: self._easings[name].show(
                self.filters[name].predict(before_ns), one, dt
            )
            for name, one in found.items()
        }
        return MirroredRobot(
            q=self._show_joints(word, found, before_ns, dt),
            poses={name: pin.SE3ToXYZQUAT(T) for name, T in poses.items()},
            age=(now_ns - word.measured_ns) * 1e-9,
            is_predicted=now_ns - word.measured_ns > _FRESH_NS,
            is_lost=now_ns - word.measured_ns > HORIZON_NS + self.lag_ns,
            held=tuple(name for name, one in found.items() if one.is_held),
        )

    def _follow_lag(self, word: Word) -> None:
        way_ns = word.written_ns - word.used_ns if word.used_ns else None
        self._lag.take_way(word.measured_ns, way_ns)
        is_free = not any(own.is_held for own in self._found.values())
        if self._word is not None and word.may_follow and is_free and len(self._asked):
            dt = (word.measured_ns - self._word.measured_ns) * 1e-9
            self._lag.take_response(dt, word.q, self._asked)

    def _show_joints(
        self, word: Word, found: Mapping[str, Predicted], before_ns: int, dt: float
    ) -> Vec:
        shares = self._list_shares(found) * word.may_follow
        before = self._predict_joints(word, shares, before_ns)
        q = self._predict_joints(word, shares, self._at_ns)
        if self._q is not None:
            moved = float(np.linalg.norm(q - before))
            q = q + _shorten(self._q - before, moved, float(_RETREAT[1]), dt)
        self._q = q
        return q

    def _predict_joints(self, word: Word, shares: Vec, at_ns: int) -> Vec:
        q: Vec = np.array(word.q)
        if len(self._asked):
            heard_ns = word.measured_ns - self.lag_ns
            end_ns = min(at_ns, heard_ns + HORIZON_NS)
            q += shares * (
                interpolate(self._asked, end_ns) - interpolate(self._asked, heard_ns)
            )
        clipped: Vec = np.clip(q, self._robot.q_min, self._robot.q_max)
        return clipped

    def _list_shares(self, found: Mapping[str, Predicted]) -> Vec:
        shares = np.ones(len(self._robot.joint_names))
        for limb in self._robot.limbs:
            rows = [self._robot.joint_names.index(name) for name in limb.joint_names]
            shares[rows] = found[limb.name].share
        return shares


class Easing:
    """Display of one pose without jumps."""

    def __init__(self) -> None:
        self._shown: pin.SE3 | None = None

    def show(self, before: Predicted, now: Predicted, dt: float) -> pin.SE3:
        """Return the pose to show, which continues the last one.

        ``before`` is the present estimate for the last display; dt in [s].
        """
        a, b = before.T_base_eef, now.T_base_eef
        if self._shown is None:
            self._shown = b
            return b
        off = _subtract(self._shown, a)
        moved = _subtract(b, a)
        rest = np.concatenate(
            [
                _shorten(off[part], float(np.linalg.norm(moved[part])), slowest, dt)
                for part, slowest in zip(
                    (slice(0, 3), slice(3, 6)), _RETREAT.tolist(), strict=True
                )
            ]
        )
        R = pin.exp3(rest[3:]) @ b.rotation
        self._shown = pin.SE3(R, b.translation + rest[:3])
        return self._shown


def _subtract(T_base_a: pin.SE3, T_base_b: pin.SE3) -> Vec:
    turn = T_base_a.rotation @ T_base_b.rotation.T
    moved = T_base_a.translation - T_base_b.translation
    return np.concatenate([moved, pin.log3(turn)])


def _shorten(off: Vec, moved: float, slowest: float, dt: float) -> Vec:
    length = float(np.linalg.norm(off))
    step = length * (1.0 - math.exp(-dt / _EASE))
    step = min(step, max(moved, slowest * dt)) if math.isfinite(dt) else length
    return off * (1.0 - step / length) if length else off
