"""Devices of axes, whose deflections u move a limb by D u (AdaptiX, X1 to X3)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

FREEDOMS = ("x", "y", "z", "roll", "pitch", "yaw", "gripper")
"""Rows of D: translations, turns about x, y and z (REP-103), the gripper's opening."""
N_FREEDOMS = len(FREEDOMS)
N_AXES = 16  # chosen: two sticks of three axes, a hat, triggers, and some to spare


class AxisSpeeds(NamedTuple):
    """Speeds at full deflection, [m/s], [rad/s] and openings, [1/s]."""

    translation: float = 0.1  # chosen: a person follows it with ease
    turn: float = 0.5  # chosen: half a turn in six seconds
    gripper: float = 1.0  # chosen: a full stroke a second


def count_axes(axes: Mapping[str, Sequence[str]]) -> int:
    """Return the most axes of a limb."""
    return max((len(own) for own in axes.values()), default=0)


def merge_speeds(speeds: Iterable[AxisSpeeds]) -> AxisSpeeds:
    """Return the leaders' common speeds, NaN where they differ."""
    found = set(speeds)
    if len(found) > 1:
        return AxisSpeeds(math.nan, math.nan, math.nan)
    return found.pop() if found else AxisSpeeds()


def compute_difference(a: Vec, b: Vec) -> float:
    """Return the difference of columns of D, (7,), 0 … 1 (AdaptiX, Eq. 1, 2).

    A zero column differs from a non-zero one by 1.
    """
    size = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    if 0.0 in size:
        return float(size != (0.0, 0.0))
    cosine = float(np.dot(a / size[0], b / size[1]))
    return 1.0 - (min(max(cosine, -1.0), 1.0) + 1.0) / 2.0
