"""A robot far away as the hand that leads it needs to see it: where it is by now.

``RobotMirror`` knows the joints that are asked for, as the session is beside it. Where
the session is at the robot, the operator's host has the motion of a hand, and where
the hand would be, were it where the robot was. Both are in the hand's axes, and so is
the filter (``PoseFilter``, T13): it needs no model of the robot.
"""

from __future__ import annotations

import math

import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.reconstruction.mirror import HORIZON_NS, PoseFilter
from paprle.reconstruction.mirror_display import Easing
from paprle.reconstruction.mirror_lag import Lag
from paprle.reconstruction.mirror_motion import History


class HandMirror:
    """The mirror image of what one hand leads.

    Attributes:
        filter: What estimates it.
        is_held: It did not follow what it was asked for when it was shown last.
    """

    def __init__(self) -> None:
        self.filter = PoseFilter()
        self.is_held = False
        self._asked: History[Vec] = History()
        self._lag = Lag()
        self._easing = Easing()
        self._heard_ns = self._shown_ns = self._at_ns = 0

    def ask(self, stamp_ns: int, T: pin.SE3) -> None:
        """Take where the hand is, and when it was captured, [ns]."""
        self.filter.asked.add(stamp_ns, pin.SE3(T))
        self._asked.add(stamp_ns, T.translation.copy())

    def hear(
        self, measured_ns: int, captured_ns: int, T: pin.SE3, *, may_follow: bool
    ) -> None:
        """Take where the robot was; what is older than what was heard before is not.

        Args:
            measured_ns: When it was measured, in this host's time, [ns].
            captured_ns: Stamp of the newest capture that it had; 0: none, [ns].
            T: Where the hand would be, were it where the robot was.
            may_follow: The robot's gate lets it move.
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
        """Return the pose to show, in the hand's axes; None: it is silent too long.

        Args:
            now_ns: This host's time, [ns]; never less than before.
        """
        is_lost = now_ns - self._heard_ns > HORIZON_NS + self._lag.ns
        if not self._heard_ns or is_lost:
            return None
        before_ns, self._at_ns = self._at_ns, max(self._at_ns, now_ns - self._lag.ns)
        dt = (now_ns - self._shown_ns) * 1e-9 if self._shown_ns else math.inf
        self._shown_ns = now_ns
        found = self.filter.predict(self._at_ns)
        self.is_held = found.is_held
        return self._easing.show(self.filter.predict(before_ns), found, dt)
