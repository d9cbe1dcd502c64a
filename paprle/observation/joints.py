"""Joint vectors in a format's units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from paprle.contracts.errors import RecordingError
from paprle.contracts.types import GripperInfo, RobotInfo, Vec
from paprle.robot.tree import Urdf

Style = Literal["lerobot", "aloha"]
"""``lerobot``: degrees, grippers 0 closed … 100 open; ``aloha``: rad, 0 … 1."""

_OPEN = {"lerobot": 100.0, "aloha": 1.0}
_ANGLE = {"lerobot": (180.0 / np.pi, "deg"), "aloha": (1.0, "rad")}


@dataclass(frozen=True)
class JointUnits:
    """Units of a robot's joints: value = (q - zero) · scale.

    Attributes:
        units: deg, rad, m, or ``0-100`` and ``0-1`` of grippers.
        scale: (n,), per [rad] or [m].
        zero: (n,), [rad] or [m].
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    scale: Vec
    zero: Vec
    efforts: tuple[str, ...]

    def convert(self, q: Vec) -> Vec:
        """Return positions, (…, n), in the format's units."""
        return (q - self.zero) * self.scale

    def invert(self, values: Vec) -> Vec:
        """Return positions, (…, n), in [rad] or [m]."""
        return values / self.scale + self.zero

    def convert_speed(self, dq: Vec) -> Vec:
        """Return velocities, (…, n), in the format's units."""
        return dq * self.scale


def make_joint_units(robot: RobotInfo, urdf: Urdf, style: Style) -> JointUnits:
    """Return a robot's joint units in a style."""
    slides = {joint.name for joint in urdf.joints if joint.kind == "prismatic"}
    factor, angle = _ANGLE[style]
    scale = np.array([1.0 if name in slides else factor for name in robot.joint_names])
    zero = np.zeros(len(scale))
    names = list(robot.joint_names)
    units = ["m" if name in slides else angle for name in names]
    hands = [limb for limb in robot.limbs if limb.gripper is not None]
    for limb in hands:
        if limb.gripper is None or limb.gripper.joint not in robot.joint_names:
            continue
        at = robot.joint_names.index(limb.gripper.joint)
        scale[at] = _OPEN[style] / _find_way(limb.gripper, limb.name)
        zero[at] = limb.gripper.closed
        names[at] = "gripper" if len(hands) == 1 else f"{limb.name}_gripper"
        units[at] = f"0-{_OPEN[style]:g}"
    if len(set(names)) < len(names):  # a joint of the arm is called like the hand
        names = list(robot.joint_names)
    efforts = tuple("N" if name in slides else "N·m" for name in robot.joint_names)
    return JointUnits(tuple(names), tuple(units), scale, zero, efforts)


def _find_way(gripper: GripperInfo, limb: str) -> float:
    ends = (gripper.closed, gripper.open)
    if not all(isinstance(end, float | int) and math.isfinite(end) for end in ends):
        raise RecordingError(f"gripper of '{limb}': expected two numbers, got {ends}")
    if gripper.open == gripper.closed:
        raise RecordingError(
            f"gripper of '{limb}': expected two ends, got {gripper.open:g} twice"
        )
    return gripper.open - gripper.closed
