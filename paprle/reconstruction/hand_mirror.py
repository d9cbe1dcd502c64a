"""Present pose of a remote robot in the hand's axes (T13)."""

from __future__ import annotations

import math

import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.reconstruction.mirror import HORIZON_NS, PoseFilter
from paprle.reconstruction.mirror_display import Easing
from paprle.reconstruction.mirror_lag import MirrorLag
from paprle.reconstruction.mirror_motion import StampedHistory


class HandMirror:
    """Mirror image of one hand's limbs."""

    def __init__(self) -> None:
        self.filter = PoseFilter()
        self.is_held = False
        self._asked: StampedHistory[Vec] = StampedHistory()
        self._lag = MirrorLag()
        self._easing = Easing()
        self._heard_ns = self._shown_ns = self._at_ns = 0

    def ask(self, stamp_ns: int, T: pin.SE3) -> None:
        """Take the hand's pose with its capture stamp."""
        self.filter.asked.add(stamp_ns, pin.SE3(T))
        self._asked.add(stamp_ns, T.translation.copy())

    def hear(
        self, measured_ns: int, captured_ns: int, T: pin.SE3, *, may_follow: bool
    ) -> None:
        """Take a state of the robot, unless older than the last.

        Times are local; ``captured_ns`` is 0 without a capture, T the hand's pose at
        the robot's.
        """
        if measured_ns <= self._heard_ns:
            return
        dt = (measured_ns - self._heard_ns) * 1e-9
        is_first, self._heard_ns = not self._heard_ns, measured_ns
        way_ns = measured_ns - captured_ns if captured_ns else None
        self._lag.take_way(measured_ns, way_ns)
        is_free = may_follow and not self.is_held
        if is_free and not is_first and len(self._asked):
            self._lag.take_response(dt, T.translation, self._asked)
        self.filter.update(measured_ns - self._lag.ns, T, may_follow=may_follow)

    def show(self, now_ns: int) -> pin.SE3 | None:
        """Return the hand's shown pose; None after long silence."""
        is_lost = now_ns - self._heard_ns > HORIZON_NS + self._lag.ns
        if not self._heard_ns or is_lost:
            return None
        before_ns, self._at_ns = self._at_ns, max(self._at_ns, now_ns - self._lag.ns)
        dt = (now_ns - self._shown_ns) * 1e-9 if self._shown_ns else math.inf
        self._shown_ns = now_ns
        found = self.filter.predict(self._at_ns)
        self.is_held = found.is_held
        return self._easing.show(self.filter.predict(before_ns), found, dt)
