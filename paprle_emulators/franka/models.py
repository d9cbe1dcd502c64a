"""Figures of the Franka Research 3 and the Panda."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paprle_emulators.franka.versions import V5, V10, Version

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
class Slowing:
    """Decrease of a limit of speed towards the ends, shape (7,).

    Attributes:
        offset: [rad/s].
        deceleration: [rad/s²].
        lower: End, [rad].
        upper: End, [rad].
    """

    offset: Vec
    deceleration: Vec
    lower: Vec
    upper: Vec


@dataclass(frozen=True)
class Limits:
    """Limits of a motion generator, shape (7,).

    Attributes:
        lower: [rad].
        upper: [rad].
        speed: Far from the ends, [rad/s].
        acceleration: [rad/s²].
        jerk: [rad/s³].
        slowing: Near the ends; None: the speed is the same anywhere.
    """

    lower: Vec
    upper: Vec
    speed: Vec
    acceleration: Vec
    jerk: Vec
    slowing: Slowing | None = None

    def find_speeds(self, q: Vec) -> tuple[Vec, Vec]:
        """Return least and greatest speeds at q, (7,), [rad/s]."""
        slowing = self.slowing
        if slowing is None:
            return -self.speed, self.speed
        offset, twice = slowing.offset, 2.0 * slowing.deceleration
        room = np.maximum(twice * (slowing.upper - q), 0.0)
        high = np.minimum(self.speed, np.maximum(np.sqrt(room) - offset, 0.0))
        room = np.maximum(twice * (q - slowing.lower), 0.0)
        low = np.maximum(-self.speed, np.minimum(offset - np.sqrt(room), 0.0))
        return low, high


@dataclass(frozen=True)
class Model:
    """An arm with its control unit.

    Attributes:
        robot: Follower of sessions that are given its address.
        version: Of its protocol.
    """

    robot: str
    version: Version
    limits: Limits


# spec: FCI documentation, limits of Franka Research 3; ends, offsets and decelerations
# as libfranka 0.21 has them in joint_velocity_limits and its test's description
_SLOWING = Slowing(
    offset=np.array([0.30, 0.20, 0.20, 0.30, 0.35, 0.35, 0.35]),
    deceleration=np.array([6.0, 2.585, 3.5, 4.0, 17.0, 5.5, 17.0]),
    lower=np.array([-2.7501, -1.7918, -2.9065, -3.0481, -2.8101, 0.54092, -3.0196]),
    upper=np.array([2.7501, 1.7918, 2.9065, -0.1458, 2.8101, 4.5205, 3.0196]),
)
FR3 = Model(
    "fr3",
    V10,
    Limits(
        lower=np.array([-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159]),
        upper=np.array([2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159]),
        speed=np.array([2.62, 2.62, 2.62, 2.62, 5.26, 4.18, 5.26]),
        acceleration=np.full(7, 10.0),
        jerk=np.full(7, 5000.0),
        slowing=_SLOWING,
    ),
)
PANDA = Model(
    "panda",
    V5,
    Limits(
        lower=np.array([-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973]),
        upper=np.array([2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973]),
        speed=np.array([2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61]),
        acceleration=np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0]),
        jerk=np.array([7500.0, 3750, 5000, 6250, 7500, 10000, 10000]),
    ),
)  # spec: FCI documentation of libfranka 0.9, limits for the Panda
MODELS = {model.robot: model for model in (FR3, PANDA)}


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
    """Return a URDF of a Franka Research 3's joints and limits."""
    slowing = _SLOWING
    lines = ['<robot name="fr3">', '<link name="link0"/>']
    for k in range(7):
        a, d, alpha = DH[k]
        y, z = -d * math.sin(alpha), d * math.cos(alpha)
        lines += [
            f'<link name="link{k + 1}"/>',
            f'<joint name="joint{k + 1}" type="revolute">',
            f'<parent link="link{k}"/><child link="link{k + 1}"/>',
            f'<origin xyz="{a} {y} {z}" rpy="{alpha} 0 0"/><axis xyz="0 0 1"/>',
            f'<limit lower="{slowing.lower[k]}" upper="{slowing.upper[k]}" '
            f'velocity="{FR3.limits.speed[k]}" effort="{87 if k < 4 else 12}"/>',
            "<position_based_velocity_limits "
            f'velocity_offset="{slowing.offset[k]}" '
            f'deceleration_limit="{slowing.deceleration[k]}"/>',
            "</joint>",
        ]
    return "\n".join((*lines, "</robot>"))
