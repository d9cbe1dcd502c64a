"""The wrist's orientation in the operator's axes.

A sensor without a compass knows up, and its heading but for a constant. So while
nothing follows the hand, wherever it points counts as forward; a press fixes that.
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
    """Takes away the heading that the hand had when it was pressed.

    Attributes:
        is_known: The hand points somewhere that has a heading, and that is forward.
    """

    def __init__(self, R_imu_hand: Vec) -> None:
        """Begin.

        Args:
            R_imu_hand: How the sensor sits on the hand, shape (3, 3).
        """
        self._R_imu_hand = R_imu_hand
        self._psi = 0.0
        self.is_known = False

    def turn(self, quat_wxyz: Vec, *, is_fixed: bool) -> Vec:
        """Return the hand's rotation in the operator's axes, shape (3, 3).

        Args:
            quat_wxyz: The sensor's orientation, of unit length, shape (4,).
            is_fixed: The heading stays what it was.
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
