"""Joint positions by servo angles; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paprle.contracts.types import LimbInfo, Vec
from paprle.followers.dynamixel.config import DynamixelConfig

_TIGHT = 0.052  # [rad] chosen: 3°: a limit that much inside is reported


@dataclass(frozen=True, slots=True)
class JointMap:
    """q = gain · angle + shift; arrays (n,).

    Attributes:
        gain: ±1 of arm joints; [rad] or [m] per [rad] of grippers.
        shift: Position at angle 0, [rad] or [m].
    """

    gain: Vec
    shift: Vec

    def to_joints(self, angle: Vec) -> Vec:
        """Return joint positions, [rad] or [m]."""
        q: Vec = self.gain * angle + self.shift
        return q

    def to_servos(self, q: Vec) -> Vec:
        """Return servo angles, [rad]."""
        angle: Vec = (q - self.shift) / self.gain
        return angle


def make_map(config: DynamixelConfig, limb: LimbInfo) -> JointMap:
    """Return a limb's map, the gripper's last.

    The gripper's is linear between its ends.
    """
    names = limb.joint_names
    gain = [-1.0 if name in config.reversed else 1.0 for name in names]
    shift = [
        -g * config.offsets.get(name, 0.0) for g, name in zip(gain, names, strict=True)
    ]
    if limb.gripper is not None:
        closed, wide = limb.gripper.closed, limb.gripper.open
        slope = (wide - closed) / (config.gripper_open - config.gripper_closed)
        gain.append(slope)
        shift.append(closed - slope * config.gripper_closed)
    return JointMap(np.array(gain), np.array(shift))


def find_tight_limits(
    names: Sequence[str],
    found: JointMap,
    ranges: Sequence[tuple[float, float]],
    limits: tuple[Vec, Vec],
) -> Mapping[str, float]:
    """Return the robot's limits beyond its servos', by config key.

    Args:
        names: Joints, the gripper's last.
        found: Their map.
        ranges: Servo angles, [rad].
        limits: Lower and upper, (n,) each.
    """
    ends = np.array(
        [found.to_joints(np.array(end)) for end in zip(*ranges, strict=True)]
    )
    low, high = np.sort(ends, axis=0)
    slack = _TIGHT * np.abs(found.gain)
    keys: dict[str, float] = {}
    for i, name in enumerate(names):
        if low[i] > limits[0][i] + slack[i]:
            keys[f"follower.limits.q_min.{name}"] = float(low[i])
        if high[i] < limits[1][i] - slack[i]:
            keys[f"follower.limits.q_max.{name}"] = float(high[i])
    return keys
