"""Choice of few views that differ most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.types import Vec

_TURN = np.array([0.15, 0.15, 0.5])  # [rad] chosen: a tilt is worth three rolls
_PLACE, _DEPTH = 0.2, 0.25  # chosen: a share of the picture's width, a share of depth


def describe_view(T_cam_board: pin.SE3, p_middle: Vec, K: Vec, width: int) -> Vec:
    """Return numbers (6,) whose distances measure differences of views.

    ``p_middle``: middle of the board, [m]; ``K`` and ``width`` in [px].
    """
    x, y, z = T_cam_board.rotation @ p_middle + T_cam_board.translation
    turn = pin.log3(T_cam_board.rotation) / _TURN
    place = np.array([K[0, 0] * x / z, K[1, 1] * y / z]) / (_PLACE * width)
    return np.array([*turn, *place, np.log(z) / _DEPTH])


def choose_spread(
    candidates: Sequence[Vec], n: int, taken: Sequence[Vec] = ()
) -> list[int]:
    """Return n candidates far from each other and from ``taken``.

    The farthest comes next (Gonzalez 1985).
    """
    rows = np.array(candidates)
    if not len(rows):
        return []
    nearest = np.full(len(rows), np.inf)
    for row in taken:
        nearest = np.minimum(nearest, np.linalg.norm(rows - row, axis=1))
    chosen: list[int] = []
    while len(chosen) < min(n, len(rows)):
        far: npt.NDArray[np.int64] = np.argsort(nearest)
        best = int(far[-1])
        if np.isinf(nearest[best]):  # the first of all: the one in the middle
            middle = np.median(rows, axis=0)
            best = int(np.argmin(np.linalg.norm(rows - middle, axis=1)))
        chosen.append(best)
        nearest = np.minimum(nearest, np.linalg.norm(rows - rows[best], axis=1))
        nearest[chosen] = -1.0
    return chosen
