"""Kinematics of UR arms, for torques of tool forces.

Source: Universal Robots, "DH Parameters for calculations of kinematics and dynamics".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Geometry:
    """Non-zero DH parameters, [m]."""

    d1: float
    a2: float
    a3: float
    d4: float
    d5: float
    d6: float


GEOMETRIES: Mapping[str, Geometry] = {
    "UR3": Geometry(0.15185, -0.24355, -0.2132, 0.13105, 0.08535, 0.0921),
    "UR5": Geometry(0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996),
    "UR10": Geometry(0.1807, -0.6127, -0.57155, 0.17415, 0.11985, 0.11655),
    "UR16": Geometry(0.1807, -0.4784, -0.36, 0.17415, 0.11985, 0.11655),
    "UR20": Geometry(0.2363, -0.8620, -0.7287, 0.2010, 0.1593, 0.1543),
    "UR30": Geometry(0.2363, -0.6370, -0.5037, 0.2010, 0.1593, 0.1543),
}
"""By the model that the dashboard reports, of the e-series and later."""


def compute_jacobian(geometry: Geometry, q: Sequence[float]) -> Vec:
    """Return the flange's Jacobian, in the controller's base frame.

    Args:
        geometry: Of the arm.
        q: Shape (6,), [rad].

    Returns:
        Linear rows first, shape (6, 6), [m/rad], [1].
    """
    g = geometry
    s1, c1 = math.sin(q[0]), math.cos(q[0])
    s2, c2 = math.sin(q[1]), math.cos(q[1])
    q23 = q[1] + q[2]
    q234 = q23 + q[3]
    s23, c23, s234, c234 = (
        math.sin(q23),
        math.cos(q23),
        math.sin(q234),
        math.cos(q234),
    )
    s5, c5 = math.sin(q[4]), math.cos(q[4])
    across = (s1, -c1, 0.0)  # axes of joints 2, 3 and 4
    fifth = (c1 * s234, s1 * s234, -c234)
    sixth = (
        -c1 * c234 * s5 + s1 * c5,
        -s1 * c234 * s5 - c1 * c5,
        -s234 * s5,
    )
    shoulder = (0.0, 0.0, g.d1)
    elbow = (c1 * g.a2 * c2, s1 * g.a2 * c2, g.d1 + g.a2 * s2)
    wrist = (
        elbow[0] + c1 * g.a3 * c23,
        elbow[1] + s1 * g.a3 * c23,
        elbow[2] + g.a3 * s23,
    )
    at5 = tuple(w + g.d4 * a for w, a in zip(wrist, across, strict=True))
    at6 = tuple(w + g.d5 * a for w, a in zip(at5, fifth, strict=True))
    tool = tuple(w + g.d6 * a for w, a in zip(at6, sixth, strict=True))
    axes = ((0.0, 0.0, 1.0), across, across, across, fifth, sixth)
    places = ((0.0, 0.0, 0.0), shoulder, elbow, wrist, at5, at6)
    jacobian = np.empty((6, 6))
    for i, (axis, place) in enumerate(zip(axes, places, strict=True)):
        x, y, z = (t - p for t, p in zip(tool, place, strict=True))
        jacobian[:3, i] = (
            axis[1] * z - axis[2] * y,
            axis[2] * x - axis[0] * z,
            axis[0] * y - axis[1] * x,
        )
        jacobian[3:, i] = axis
    return jacobian


def compute_torques(geometry: Geometry, q: Sequence[float], wrench: Vec) -> Vec:
    """Return motor torques against a force on the flange.

    Args:
        geometry: Of the arm.
        q: Shape (6,), [rad].
        wrench: Of the surroundings on the tool, shape (6,), [N], [N·m].

    Returns:
        Shape (6,), [N·m].
    """
    torques: Vec = -compute_jacobian(geometry, q).T @ wrench
    return torques
