"""Devices of axes: what deflections mean, and the degrees of freedom they move.

Sticks, buttons, keys and a page's sliders say how fast, never where. Such a device has
m axes; a limb has seven degrees of freedom. The rule ``axes`` joins the two by a matrix
D with a column for each axis: the limb moves with D u (AdaptiX, requirements X1 to X3).
"""

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
    """Speeds of a limb at full deflection of one degree of freedom.

    Attributes:
        translation: [m/s].
        turn: [rad/s].
        gripper: Openings a second, [1/s].
    """

    translation: float = 0.1  # chosen: a person follows it with ease
    turn: float = 0.5  # chosen: half a turn in six seconds
    gripper: float = 1.0  # chosen: a full stroke a second


def count_axes(axes: Mapping[str, Sequence[str]]) -> int:
    """Return the most axes that a limb of a leader has; 0 without any."""
    return max((len(own) for own in axes.values()), default=0)


def merge_speeds(speeds: Iterable[AxisSpeeds]) -> AxisSpeeds:
    """Return the speeds of several leaders: the common ones, NaN where they differ."""
    found = set(speeds)
    if len(found) > 1:
        return AxisSpeeds(math.nan, math.nan, math.nan)
    return found.pop() if found else AxisSpeeds()


def compute_difference(a: Vec, b: Vec) -> float:
    """Return how far two columns of D differ, 0 alike, 1 opposite (AdaptiX, Eq. 1, 2).

    The rows of D are shares of each freedom's own speed, so that the cosine does not
    depend on units. Two columns of zeros are alike; one that moves nothing and one that
    does are as far apart as can be, 1.

    Args:
        a: A column, shape (7,).
        b: Another.
    """
    size = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    if 0.0 in size:
        return float(size != (0.0, 0.0))
    cosine = float(np.dot(a / size[0], b / size[1]))
    return 1.0 - (min(max(cosine, -1.0), 1.0) + 1.0) / 2.0
