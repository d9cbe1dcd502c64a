"""Models of Universal Robots arms.

Source: Universal Robots, "DH Parameters for calculations of kinematics and dynamics"
and "Max. joint torques"; limits of position and speed of the technical data sheets, as
in ``config/<model>`` of Universal_Robots_ROS2_Description.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

N_JOINTS = 6
_ALPHA = (np.pi / 2, 0.0, 0.0, np.pi / 2, -np.pi / 2, 0.0)  # spec: DH, all models


@dataclass(frozen=True, slots=True)
class Model:
    """Figures of one arm.

    Attributes:
        a: DH a2 and a3, [m].
        d: DH d1, d4, d5 and d6, [m].
        speed_deg: Largest, [°/s].
        torque: Largest, [N·m].
    """

    serial: str
    a: tuple[float, float]
    d: tuple[float, float, float, float]
    speed_deg: tuple[float, ...]
    torque: tuple[float, ...]

    @property
    def dq_max(self) -> Vec:
        """Largest speeds, (6,), [rad/s]."""
        return np.radians(self.speed_deg)

    @property
    def q_max(self) -> Vec:
        """Largest positions, (6,), [rad]."""
        return np.radians([360.0, 360.0, 180.0, 360.0, 360.0, 360.0])


MODELS: Mapping[str, Model] = {
    "ur3e": Model(
        "20200300001",
        (-0.24355, -0.2132),
        (0.15185, 0.13105, 0.08535, 0.0921),
        (180.0, 180.0, 180.0, 360.0, 360.0, 360.0),
        (54.0, 54.0, 28.0, 9.0, 9.0, 9.0),
    ),
    "ur5e": Model(
        "20205500002",
        (-0.425, -0.3922),
        (0.1625, 0.1333, 0.0997, 0.0996),
        (180.0,) * 6,
        (150.0, 150.0, 150.0, 28.0, 28.0, 28.0),
    ),
    "ur10e": Model(
        "20201000003",
        (-0.6127, -0.57155),
        (0.1807, 0.17415, 0.11985, 0.11655),
        (120.0, 120.0, 180.0, 180.0, 180.0, 180.0),
        (330.0, 330.0, 150.0, 54.0, 54.0, 54.0),
    ),
    "ur16e": Model(
        "20201600004",
        (-0.4784, -0.36),
        (0.1807, 0.17415, 0.11985, 0.11655),
        (120.0, 120.0, 180.0, 180.0, 180.0, 180.0),
        (330.0, 330.0, 150.0, 54.0, 54.0, 54.0),
    ),
    "ur20": Model(
        "20222000005",
        (-0.8620, -0.7287),
        (0.2363, 0.2010, 0.1593, 0.1543),
        (120.0, 120.0, 150.0, 210.0, 210.0, 210.0),
        (738.0, 738.0, 433.0, 107.0, 107.0, 107.0),
    ),
    "ur30": Model(
        "20233000006",
        (-0.6370, -0.5037),
        (0.2363, 0.2010, 0.1593, 0.1543),
        (120.0, 120.0, 150.0, 210.0, 210.0, 210.0),
        (738.0, 738.0, 433.0, 107.0, 107.0, 107.0),
    ),
}


def compute_links(model: Model, q: Vec) -> list[Vec]:
    """Return the poses (4, 4) of base and DH frames in the base, [m]."""
    a = (0.0, *model.a, 0.0, 0.0, 0.0)
    d = (model.d[0], 0.0, 0.0, *model.d[1:])
    links: list[Vec] = [np.eye(4)]
    for theta, alpha, length, offset in zip(q, _ALPHA, a, d, strict=True):
        ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        link = np.array(
            [
                [ct, -st * ca, st * sa, length * ct],
                [st, ct * ca, -ct * sa, length * st],
                [0.0, sa, ca, offset],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
        links.append(links[-1] @ link)
    return links


def compute_flange(model: Model, q: Vec) -> Vec:
    """Return T_base_flange (4, 4), [m], at q (6,), [rad]."""
    return compute_links(model, q)[-1]
