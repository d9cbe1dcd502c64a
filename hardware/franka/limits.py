"""Limits of the control unit's motion generator.

Sources: FCI documentation, "Robot limits"; libfranka 0.21, ``rate_limiting.h`` and
``joint_velocity_limits.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MotionLimits:
    """Limits of seven joints.

    Attributes:
        dq: Far from the ends, shape (7,), [rad/s].
        ddq: [rad/s²].
        dddq: [rad/s³].
        end_lower: Ends for the speed's decrease, shape (7,), [rad].
        end_upper: Likewise.
        offset: Of that speed, shape (7,), [rad/s].
        deceleration: Towards an end, shape (7,), [rad/s²].
    """

    dq: Vec
    ddq: float
    dddq: float
    end_lower: Vec
    end_upper: Vec
    offset: Vec
    deceleration: Vec

    def find_speeds(self, q: Vec) -> tuple[Vec, Vec]:
        """Return the lowest and highest speed at q, shape (7,), [rad], [rad/s].

        It is 0 from an end on.

        References:
            ``JointVelocityLimitsConfig::getUpperJointVelocityLimits`` of libfranka:
            min(V, max(0, -offset + √(2·a·(end - q)))).
        """
        twice = 2.0 * self.deceleration
        up = np.sqrt(np.maximum(twice * (self.end_upper - q), 0.0)) - self.offset
        down = np.sqrt(np.maximum(twice * (q - self.end_lower), 0.0)) - self.offset
        return (
            -np.minimum(self.dq, np.maximum(down, 0.0)),
            np.minimum(self.dq, np.maximum(up, 0.0)),
        )


FR3 = MotionLimits(
    dq=np.array([2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26]),
    ddq=10.0,
    dddq=5000.0,
    end_lower=np.array([-2.7501, -1.7918, -2.9065, -3.0481, -2.8101, 0.54092, -3.0196]),
    end_upper=np.array([2.7501, 1.7918, 2.9065, -0.1458, 2.8101, 4.5205, 3.0196]),
    offset=np.array([0.30, 0.20, 0.20, 0.30, 0.35, 0.35, 0.35]),
    deceleration=np.array([6.0, 2.585, 3.5, 4.0, 17.0, 5.5, 17.0]),
)  # spec: libfranka 0.21, rate_limiting.h
