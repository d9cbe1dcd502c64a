"""Tables and kinematics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]
Row = tuple[float, float, float, float]

_A2 = math.hypot(284.5, 53.5)  # [mm] spec: ufactory_docs, xArm 5 Lite and xArm 6
_A3 = math.hypot(77.5, 342.5)  # [mm] spec: the same, xArm 5 Lite
_T2 = -math.degrees(math.atan(284.5 / 53.5))  # [°] spec: the same
_T4 = -math.degrees(math.atan(342.5 / 77.5))  # [°] spec: the same
_FULL = (-360.0, 360.0)
_G = np.array([0.0, 0.0, -9.81])  # [m/s²]


@dataclass(frozen=True)
class Model:
    """One arm.

    Attributes:
        axis: Number of joints.
        kind: Device type in the version string.
        serial: Digits 3 to 6 are the generation.
        limits: [°].
        dh: Modified DH: offset of theta [°], d [mm], alpha [°], a [mm].
        links: Mass [kg] and centre in DH frames, [mm].
        tool_speed: Largest in servo mode, [m/s].
    """

    axis: int
    kind: int
    serial: str
    limits: tuple[tuple[float, float], ...]
    dh: tuple[Row, ...]
    links: tuple[Row, ...]
    tool_speed: float

    def clip(self, q: Vec) -> Vec:
        """Return joints inside limits, (axis,), [rad]."""
        low, high = np.radians(self.limits).T
        return np.clip(q, low, high)

    def compute_frames(self, q: Vec) -> Vec:
        """Return T_base_link of links, (axis, 4, 4), [m]."""
        frames, pose = [], np.eye(4)
        for angle, (offset, d, alpha, a) in zip(q, self.dh, strict=True):
            pose = pose @ _make_step(angle + math.radians(offset), d, alpha, a)
            frames.append(pose)
        return np.array(frames)

    def compute_gravity(self, frames: Vec) -> Vec:
        """Return carrying torques, (axis,), [N·m]."""
        table = np.array(self.links)
        mass, local = table[:, 0], 1e-3 * table[:, 1:]
        centres = np.einsum("nij,nj->ni", frames[:, :3, :3], local) + frames[:, :3, 3]
        beyond = np.cumsum(mass[::-1])[::-1]
        moment = np.cumsum((mass[:, None] * centres)[::-1], axis=0)[::-1]
        arm = moment - beyond[:, None] * frames[:, :3, 3]
        torques: Vec = -np.einsum("ni,ni->n", frames[:, :3, 2], np.cross(arm, _G))
        return torques


def _make_step(theta: float, d: float, alpha_deg: float, a: float) -> Vec:
    """Return one step of the modified convention, (4, 4), [m]."""
    alpha = math.radians(alpha_deg)
    ct, st, ca, sa = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
    return np.array(
        [
            [ct, -st, 0.0, 1e-3 * a],
            [st * ca, ct * ca, -sa, -1e-3 * d * sa],
            [st * sa, ct * sa, ca, 1e-3 * d * ca],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def _turn(degrees: float, link: Row) -> Row:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    mass, x, y, z = link
    return mass, c * x - s * y, s * x + c * y, z


# The centres of xArm 5 and 6 are given in frames without the offsets of theta.
# spec: xArm-Developer/ufactory_docs: p04robot-specifications (limits, 180 °/s),
# kinematic-and-dynamic-parameters (DH; masses of model 3), how-to-solve-c60-error
MODELS: Mapping[str, Model] = {
    "xarm5": Model(
        axis=5,
        kind=5,
        serial="XF130006D01B01",
        limits=(_FULL, (-118, 120), (-225, 11), (-97, 180), _FULL),
        dh=(
            (0, 267, 0, 0),
            (_T2, 0, -90, 0),
            (-_T2 - _T4, 0, 0, _A2),
            (_T4, 0, 0, _A3),
            (0, 97, -90, 76),
        ),
        links=(
            (2.382, 0.13, 29.4, -12.4),
            _turn(-_T2, (2.164, 37.88, -225.4, 34.47)),
            _turn(_T4, (2.121, 68.83, 229.85, 1.02)),
            (1.317, 64.9, 31.2, 3.2),
            (0.17, 0.0, -6.77, -10.98),
        ),
        tool_speed=1.2,
    ),
    "xarm6": Model(
        axis=6,
        kind=6,
        serial="XI130006D01B01",
        limits=(_FULL, (-118, 120), (-225, 11), _FULL, (-97, 180), _FULL),
        dh=(
            (0, 267, 0, 0),
            (_T2, 0, -90, 0),
            (-_T2, 0, 0, _A2),
            (0, 342.5, -90, 77.5),
            (0, 0, 90, 0),
            (0, 97, -90, 76),
        ),
        links=(
            (2.382, 0.13, 29.4, -12.4),
            _turn(-_T2, (2.267, 38.8, -227.8, 34.96)),
            (1.875, 70.4, 116.3, 10.7),
            (1.319, -0.2, 18.0, -22.9),
            (1.34, 65.1, 30.96, 3.15),
            (0.17, 0.0, -6.77, -10.98),
        ),
        tool_speed=1.2,
    ),
    "xarm7": Model(
        axis=7,
        kind=7,
        serial="XS130006D01B01",
        limits=(_FULL, (-118, 120), _FULL, (-11, 225), _FULL, (-97, 180), _FULL),
        dh=(
            (0, 267, 0, 0),
            (0, 0, -90, 0),
            (0, 293, 90, 0),
            (0, 0, 90, 52.5),
            (0, 342.5, 90, 77.5),
            (0, 0, 90, 0),
            (0, 97, -90, 76),
        ),
        links=(
            (2.382, 0.13, 29.4, -12.4),
            (1.869, 0.2, -128.56, 17.35),
            (1.638, 46.6, -24.63, -7.68),
            (1.727, 70.5, -115.75, 12.0),
            (1.32, -0.32, 16.04, -26.0),
            (1.325, 64.7, 32.8, 21.4),
            (0.17, 0.0, -6.77, -10.98),
        ),
        tool_speed=1.2,
    ),
    "xarm850": Model(
        axis=6,
        kind=12,
        serial="FX850006D01B01",
        limits=(_FULL, (-132, 132), (-242, 3.5), _FULL, (-124, 124), _FULL),
        dh=(
            (0, 364, 0, 0),
            (90, 0, 90, 0),
            (90, 0, 180, 390),
            (0, 426, -90, 150),
            (0, 0, -90, 0),
            (0, 90, 90, 0),
        ),
        links=(
            (4.811, -0.049, 13.92, -20.31),
            (3.166, 327.98, 0.074, 6.48),
            (2.247, 130.23, 105.18, 8.97),
            (2.12, 0.016, -38.47, -98.3),
            (1.346, -0.42, -17.6, -1.42),
            (0.225, 0.15, 1.38, -13.97),
        ),
        tool_speed=1.2,
    ),
    "lite6": Model(
        axis=6,
        kind=9,
        serial="LI100806D01B01",
        limits=(_FULL, (-150, 150), (-3.5, 300), _FULL, (-124, 124), _FULL),
        dh=(
            (0, 243.3, 0, 0),
            (-90, 0, -90, 0),
            (-90, 0, 180, 200),
            (0, 227.6, 90, 87),
            (0, 0, 90, 0),
            (0, 61.5, -90, 0),
        ),
        links=(
            (1.411, -0.36, 41.95, -2.5),
            (1.34, 179.0, 0.0, 58.4),
            (0.953, 72.0, -35.7, -1.0),
            (1.284, -2.0, -28.5, -81.3),
            (0.804, 0.0, 10.0, 1.9),  # spec: xarm_ros2; the docs' 0.084 is a slip
            (0.13, 0.0, -1.94, -10.2),
        ),
        tool_speed=0.6,
    ),
}
