"""SI units and the arm's integers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from paprle.contracts.types import Vec
from paprle.hardware.piper.protocol import QUARTER, QUARTER_UNTIL

_QUANTUM = math.radians(1e-3)  # [rad] spec: protocol V2, 0x155: 0.001°
_VERSION = re.compile(r"S-V(\d+)\.(\d+)-(\d+)")
_OLDEST = (1, 5, 2)  # spec: piper_sdk, its interface V2 needs S-V1.5-2
_NEW_ZEROS = (1, 6, 3)  # spec: piper_sdk, dh_is_offset: from S-V1.6-3 on
# spec: piper_sdk's kinematics: the zeros of joints 2 and 3 moved by 2°; the URDF has
# the older ones. q of the URDF is q of such an arm plus this.
_ZERO_SHIFT = np.radians([0.0, 2.0, -2.0, 0.0, 0.0, 0.0])


def parse_version(text: str) -> tuple[int, int, int] | None:
    """Return ``S-V1.6-3`` as (1, 6, 3), or None."""
    match = _VERSION.match(text)
    return None if match is None else (int(match[1]), int(match[2]), int(match[3]))


def is_too_old(version: tuple[int, int, int]) -> bool:
    """Return whether the firmware is too old for the SDK."""
    return version < _OLDEST


class Units:
    """The conversions of one arm.

    Attributes:
        limits: The arm's, which clip targets, (6, 2), [0.001°].
    """

    def __init__(
        self, version: tuple[int, int, int], limits: Sequence[tuple[int, int]]
    ) -> None:
        has_new_zeros = version >= _NEW_ZEROS
        self._shift = _ZERO_SHIFT if has_new_zeros else np.zeros(6)
        self.limits = np.array(limits, dtype=np.int64) * 100
        is_quartered = version <= QUARTER_UNTIL
        self._torque = 1e-3 * np.array(QUARTER if is_quartered else (1.0,) * 6)

    def to_angles(self, q: Vec) -> list[int]:
        """Return six joints [rad] in 0.001°, clipped."""
        angles = np.rint(np.degrees(q - self._shift) * 1e3).astype(np.int64)
        return [int(x) for x in np.clip(angles, *self.limits.T)]

    def to_joints(self, angles: Sequence[int]) -> Vec:
        """Return six angles [0.001°] in [rad]."""
        q: Vec = np.radians(np.array(angles) * 1e-3) + self._shift
        return q

    def to_torques(self, efforts: Sequence[float]) -> Vec:
        """Return the SDK's six currents as torques, [N·m]."""
        tau: Vec = np.array(efforts) * self._torque
        return tau

    def allows(self, q: Vec) -> bool:
        """Return whether joints [rad] are within limits."""
        angles = np.degrees(q - self._shift) * 1e3
        low, high = self.limits.T
        return bool(((low <= angles) & (angles <= high)).all())

    def find_tighter(self, q_min: Vec, q_max: Vec) -> Iterator[tuple[int, str, float]]:
        """Yield arm limits tighter than the robot's, (6,), [rad], which clip commands.

        Yields:
            Joint from 0, ``q_min`` or ``q_max``, and required value, [rad].
        """
        low, high = np.radians(self.limits.T * 1e-3) + self._shift
        for joint in range(len(low)):
            if q_min[joint] < low[joint] - _QUANTUM:
                yield joint, "q_min", math.ceil(low[joint] * 1e4) * 1e-4
            if q_max[joint] > high[joint] + _QUANTUM:
                yield joint, "q_max", math.floor(high[joint] * 1e4) * 1e-4


def to_opening(finger: float) -> int:
    """Return a finger's travel [m] as opening, [0.001 mm]."""
    return round(2e6 * finger)


def to_finger(opening: int) -> float:
    """Return an opening [0.001 mm] as a finger's travel, [m]."""
    return 0.5e-6 * opening
