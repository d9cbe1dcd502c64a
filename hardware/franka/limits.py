"""Limits of the control units' motion generators.

Sources: FCI documentation, "Robot limits"; libfranka 0.21, ``rate_limiting.h`` and
``joint_velocity_limits.cpp``; libfranka 0.9.2, ``rate_limiting.h``, for the Panda.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MotionLimits:
    """Limits of seven joints, shape (7,).

    Attributes:
        dq: Far from the ends, [rad/s].
        ddq: [rad/s²].
        dddq: [rad/s³].
        end_lower: Ends for the speed's decrease, [rad].
        end_upper: Likewise.
        offset: Of that speed, [rad/s].
        deceleration: Towards an end, [rad/s²].
    """

    dq: Vec
    ddq: Vec
    dddq: Vec
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
    ddq=np.full(7, 10.0),
    dddq=np.full(7, 5000.0),
    end_lower=np.array([-2.7501, -1.7918, -2.9065, -3.0481, -2.8101, 0.54092, -3.0196]),
    end_upper=np.array([2.7501, 1.7918, 2.9065, -0.1458, 2.8101, 4.5205, 3.0196]),
    offset=np.array([0.30, 0.20, 0.20, 0.30, 0.35, 0.35, 0.35]),
    deceleration=np.array([6.0, 2.585, 3.5, 4.0, 17.0, 5.5, 17.0]),
)  # spec: libfranka 0.21, rate_limiting.h

PANDA = MotionLimits(
    dq=np.array([2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61]),
    ddq=np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0]),
    dddq=np.array([7500.0, 3750.0, 5000.0, 6250.0, 7500.0, 10000.0, 10000.0]),
    end_lower=np.array([-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973]),
    end_upper=np.array([2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973]),
    offset=np.zeros(7),
    deceleration=np.array([7.5, 3.75, 5.0, 6.25, 7.5, 10.0, 10.0]),
)  # spec: libfranka 0.9.2; chosen: half of ddq towards an end, which the unit ignores
