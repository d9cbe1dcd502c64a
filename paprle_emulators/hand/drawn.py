"""Images and depth of the hand of ``paprle_emulators.hand.model``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paprle_emulators.hand.model import FOCAL, Array, Hand

DEPTH_UNIT = 0.001
"""Of a count, [m]."""

_SIZE = (640, 480)
_WALL = 1500  # [counts] chosen: a wall behind the hand
_SKIN = np.array([205.0, 160.0, 135.0])  # chosen: red, green, blue
_BACKGROUND = (70, 80, 95)
_WIDTHS = np.array([0.026, 0.021, 0.0215, 0.021, 0.018])  # [m] chosen: of fingers
_ARM = 0.05  # [m] chosen: of the forearm
_PALM = (0, 1, 5, 9, 13, 17)


class DrawnPicture(NamedTuple):
    """An image (480, 640, 3) and depth (480, 640), in ``DEPTH_UNIT``."""

    rgb: npt.NDArray[np.uint8]
    depth: npt.NDArray[np.uint16]


def draw(*hands: Hand) -> DrawnPicture:
    """Return an image of hands."""
    import cv2  # noqa: PLC0415 - whoever draws has it

    width, height = _SIZE
    rgb = np.full((height, width, 3), _BACKGROUND, np.uint8)
    depth = np.full((height, width), _WALL, np.uint16)
    for hand in hands:
        _draw_hand(cv2, rgb, depth, hand)
    return DrawnPicture(cv2.GaussianBlur(rgb, (3, 3), 0), depth)


def _draw_hand(cv2: Any, rgb: Any, depth: Any, hand: Hand) -> None:
    z = hand.depth
    counts = int(z[9] / DEPTH_UNIT)
    wrist, knuckle = hand.uv[0], hand.uv[9]
    elbow = wrist + 2.2 * (wrist - knuckle)
    parts = [(elbow, wrist, _ARM, 0.85)]
    palm = cv2.convexHull(np.rint(hand.uv[list(_PALM)]).astype(np.int32))
    for finger in range(5):
        for joint in range(3):
            a, b = 1 + 4 * finger + joint, 2 + 4 * finger + joint
            shade = 1.0 - 0.04 * finger
            parts.append((hand.uv[a], hand.uv[b], _WIDTHS[finger], shade))
    _draw_part(cv2, rgb, parts[0], z[9])
    thick = int(FOCAL * 0.022 / z[9])
    for canvas, colour in ((rgb, tuple(0.95 * _SKIN)), (depth, counts)):
        cv2.fillConvexPoly(canvas, palm, colour)
        cv2.polylines(canvas, [palm], True, colour, thick)
    for part in parts:
        if part is not parts[0]:
            _draw_part(cv2, rgb, part, z[9])
        _draw_line(cv2, depth, part, z[9], 1.0, counts)


def _draw_part(
    cv2: Any, rgb: Any, part: tuple[Array, Array, float, float], z: float
) -> None:
    for share, light in ((1.0, 0.72), (0.85, 0.9), (0.6, 1.0), (0.3, 1.06)):
        colour = tuple(np.clip(_SKIN * part[3] * light, 0, 255))
        _draw_line(cv2, rgb, part, z, share, colour)


def _draw_line(
    cv2: Any, canvas: Any, part: tuple[Array, Array, float, float], z: float,
    share: float, colour: Any,
) -> None:  # fmt: skip
    a, b = (tuple(int(c) for c in np.rint(point)) for point in part[:2])
    thick = max(1, round(FOCAL * part[2] * share / z))
    cv2.line(canvas, a, b, colour, thick, cv2.LINE_AA if canvas.ndim == 3 else 8)
