"""Position of a hand from an image."""

from __future__ import annotations

from typing import Literal

import numpy as np

from paprle.contracts.types import Vec
from paprle.hardware.hand.frames import Hand, HandFrame

Point = Literal["palm", "fingertips"]

_POINTS: dict[Point, tuple[int, ...]] = {
    "palm": (9,),  # spec: cake-lab/AR-CV, final.py: root of the middle finger
    "fingertips": (4, 8, 12),  # spec: the same, its precision mode
}
_PALM = (0, 1, 5, 9, 13, 17)
R_LEADER_CAM = np.array([[0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
"""spec: requirements.md A8. From camera axes to those of an operator who faces it: away
from the operator is towards the camera, the operator's left is the image's right."""


def locate(frame: HandFrame, hand: Hand, point: Point, palm: float) -> Vec | None:
    """Return a hand's position, operator's axes, (3,), [m], or None.

    ``palm``, wrist to middle finger's root, [m], gives depth; 0: none.
    """
    rows = list(_POINTS[point])
    z = hand.depth[rows]
    if np.isnan(z).any():
        guess = (
            guess_distance(frame, hand, palm) if np.isnan(hand.depth).all() else None
        )
        if guess is None:
            return None
        z = np.full(len(rows), guess)
    xy = (hand.uv[rows] - frame.centre) / frame.focal * z[:, None]
    p_cam = np.column_stack([xy, z]).mean(axis=0)
    p: Vec = R_LEADER_CAM @ p_cam
    return p


def guess_distance(frame: HandFrame, hand: Hand, palm: float) -> float | None:
    """Return a hand's distance, [m], or None.

    It is the palm's least-squares scale under weak perspective.
    """
    length = float(np.linalg.norm(hand.shape[9] - hand.shape[0]))
    if palm <= 0.0 or length <= 0.0:
        return None
    rows = list(_PALM)
    seen = hand.uv[rows] / frame.focal
    seen = seen - seen.mean(axis=0)
    known = hand.shape[rows, :2] * (palm / length)
    known = known - known.mean(axis=0)
    scale = float((seen * known).sum()) / max(float((known**2).sum()), 1e-12)
    return 1.0 / scale if scale > 0.0 else None
