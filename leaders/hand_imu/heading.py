"""Wrist orientation in the operator's axes.

Forward is the hand's direction until a press, as heading has no origin.
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec

_MAX_TURN = (
    0.05  # [rad] chosen: a sample, half of what two that are as close may differ
)
_LEAST = 0.3  # chosen: a hand that points up or down more than 73° has no heading


class Heading:
    """Removes the heading of the press.

    Attributes:
        is_known: The hand's direction has a heading.
    """

    def __init__(self, R_imu_hand: Vec) -> None:
        """Take the mounting R_imu_hand, (3, 3)."""
        self._R_imu_hand = R_imu_hand
        self._psi = 0.0
        self.is_known = False

    def turn(self, quat_wxyz: Vec, *, is_fixed: bool) -> Vec:
        """Return the hand's rotation in the operator's axes, (3, 3).

        ``quat_wxyz`` is the sensor's; ``is_fixed`` keeps the heading.
        """
        w, x, y, z = quat_wxyz
        R_world_hand = pin.Quaternion(w, x, y, z).toRotationMatrix() @ self._R_imu_hand
        forward = R_world_hand[:, 0]
        self.is_known = math.hypot(forward[0], forward[1]) >= _LEAST
        if self.is_known and not is_fixed:
            off = math.atan2(forward[1], forward[0]) - self._psi
            off = math.remainder(off, math.tau)
            self._psi += max(-_MAX_TURN, min(_MAX_TURN, off))
            self.is_known = abs(off) <= _MAX_TURN
        return np.asarray(pin.utils.rotate("z", -self._psi) @ R_world_hand)
