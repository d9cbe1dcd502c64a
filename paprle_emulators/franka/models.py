"""Figures of the Franka Research 3."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

# spec: FCI documentation, robot and interface specifications, Denavit-Hartenberg
# parameters (Craig): a [m], d [m], alpha [rad]; the last row is the flange
DH = (
    (0.0, 0.333, 0.0),
    (0.0, 0.0, -math.pi / 2),
    (0.0, 0.316, math.pi / 2),
    (0.0825, 0.0, math.pi / 2),
    (-0.0825, 0.384, -math.pi / 2),
    (0.0, 0.0, math.pi / 2),
    (0.088, 0.0, math.pi / 2),
    (0.0, 0.107, 0.0),
)
HOME = (0.0, -math.pi / 4, 0.0, -3 * math.pi / 4, 0.0, math.pi / 2, math.pi / 4)
"""Joints of the maker's "ready" pose, [rad]. spec: libfranka, examples_common."""


@dataclass(frozen=True)
class Limits:
    """Limits of a motion generator.

    Attributes:
        lower: [rad].
        upper: [rad].
        speed: Far from the ends, [rad/s].
        offset: Of the speed near an end, [rad/s].
        deceleration: Towards an end, [rad/s²].
        end_lower: Reference of speed near it, [rad].
        end_upper: Likewise.
        acceleration: [rad/s²].
        jerk: [rad/s³].
    """

    lower: Vec
    upper: Vec
    speed: Vec
    offset: Vec
    deceleration: Vec
    end_lower: Vec
    end_upper: Vec
    acceleration: float
    jerk: float

    def find_speeds(self, q: Vec) -> tuple[Vec, Vec]:
        """Return least and greatest speeds at q, (7,), [rad/s]."""
        room = np.maximum(2.0 * self.deceleration * (self.end_upper - q), 0.0)
        high = np.minimum(self.speed, np.maximum(np.sqrt(room) - self.offset, 0.0))
        room = np.maximum(2.0 * self.deceleration * (q - self.end_lower), 0.0)
        low = np.maximum(-self.speed, np.minimum(self.offset - np.sqrt(room), 0.0))
        return low, high


# spec: FCI documentation, limits of Franka Research 3; ends, offsets and decelerations
# as libfranka 0.21 has them in joint_velocity_limits and its test's description
FR3 = Limits(
    lower=np.array([-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159]),
    upper=np.array([2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159]),
    speed=np.array([2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26]),
    offset=np.array([0.30, 0.20, 0.20, 0.30, 0.35, 0.35, 0.35]),
    deceleration=np.array([6.0, 2.585, 3.5, 4.0, 17.0, 5.5, 17.0]),
    end_lower=np.array([-2.7501, -1.7918, -2.9065, -3.0481, -2.8101, 0.54092, -3.0196]),
    end_upper=np.array([2.7501, 1.7918, 2.9065, -0.1458, 2.8101, 4.5205, 3.0196]),
    acceleration=10.0,
    jerk=5000.0,
)


def compute_pose(q: Vec) -> Vec:
    """Return T_base_flange at joints, (4, 4), [m]."""
    pose = np.eye(4)
    for theta, (a, d, alpha) in zip((*q, 0.0), DH, strict=True):
        ct, st, ca, sa = (
            math.cos(theta),
            math.sin(theta),
            math.cos(alpha),
            math.sin(alpha),
        )
        pose = pose @ np.array(
            [
                [ct, -st, 0.0, a],
                [st * ca, ct * ca, -sa, -d * sa],
                [st * sa, ct * sa, ca, d * ca],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
    return pose


def make_urdf() -> str:
    """Return a URDF of joints and limits."""
    lines = ['<robot name="fr3">', '<link name="link0"/>']
    for k in range(7):
        a, d, alpha = DH[k]
        y, z = -d * math.sin(alpha), d * math.cos(alpha)
        lines += [
            f'<link name="link{k + 1}"/>',
            f'<joint name="joint{k + 1}" type="revolute">',
            f'<parent link="link{k}"/><child link="link{k + 1}"/>',
            f'<origin xyz="{a} {y} {z}" rpy="{alpha} 0 0"/><axis xyz="0 0 1"/>',
            f'<limit lower="{FR3.end_lower[k]}" upper="{FR3.end_upper[k]}" '
            f'velocity="{FR3.speed[k]}" effort="{87 if k < 4 else 12}"/>',
            "<position_based_velocity_limits "
            f'velocity_offset="{FR3.offset[k]}" '
            f'deceleration_limit="{FR3.deceleration[k]}"/>',
            "</joint>",
        ]
    return "\n".join((*lines, "</robot>"))
