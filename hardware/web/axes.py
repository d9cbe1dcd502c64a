"""From the axes of WebXR to those of REP-103.

WebXR: x right, y up, −z forward. REP-103: x forward, y left, z up. A rotation is the
same rotation seen in other axes: R′ = A R Aᵀ, so that its axis is mapped like a point
and its angle stays.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

R_REP103_WEBXR: Vec = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
R_REP103_WEBXR.setflags(write=False)


def to_rep103(p: Vec, quat_xyzw: Vec) -> tuple[Vec, Vec]:
    """Return a pose of WebXR in the axes of REP-103.

    Args:
        p: Position, shape (3,), [m].
        quat_xyzw: Orientation, shape (4,), of unit length.

    Returns:
        Position, shape (3,), and orientation as x, y, z, w, shape (4,).
    """
    axis = R_REP103_WEBXR @ quat_xyzw[:3]
    return R_REP103_WEBXR @ p, np.append(axis, quat_xyzw[3])
