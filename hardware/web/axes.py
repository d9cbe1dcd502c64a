"""Axes of WebXR (x right, y up, −z forward) to those of REP-103: R′ = A R Aᵀ."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

R_REP103_WEBXR: Vec = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
R_REP103_WEBXR.setflags(write=False)


def to_rep103(p: Vec, quat_xyzw: Vec) -> tuple[Vec, Vec]:
    """Return WebXR's pose in REP-103: p, shape (3,), [m], unit x, y, z, w."""
    axis = R_REP103_WEBXR @ quat_xyzw[:3]
    return R_REP103_WEBXR @ p, np.append(axis, quat_xyzw[3])
