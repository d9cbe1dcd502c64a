"""A hand of straight bones.

Landmarks in MediaPipe's order: 0 wrist, 1 to 4 thumb from its root, 5 to 8 index,
9 to 12 middle, 13 to 16 ring, 17 to 20 little finger. Axes: x right, y down, z away.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Label = Literal["left", "right"]
Array = npt.NDArray[np.float64]

FOCAL = 600.0
"""[px] chosen: of a camera of 640 × 480 pixels that sees 56° across."""
CENTRE = (320.0, 240.0)

# chosen: roots about the wrist and lengths of bones of a hand of 0.18 m, x to the side
# of the thumb, y to the fingertips, [m]
_ROOTS = np.array([[0.025, 0.02], [0.025, 0.09], [0.003, 0.092], [-0.017, 0.086],
                   [-0.035, 0.076]])  # fmt: skip
_BONES = np.array([[0.04, 0.032, 0.026], [0.042, 0.025, 0.02], [0.046, 0.028, 0.021],
                   [0.042, 0.026, 0.02], [0.033, 0.02, 0.018]])  # fmt: skip
_SPREAD = np.array([-0.7, -0.12, 0.0, 0.1, 0.22])  # [rad] of each finger from y to x
_BENDS = np.array([0.5, 1.5, 1.1])  # [rad] chosen: of the joints of a finger in a fist
_NEAR = 0.6  # chosen: a thumb bends by less


class Hand(NamedTuple):
    """One hand in an image.

    Attributes:
        uv: Landmarks, shape (21, 2), [px].
        depth: Shape (21,), [m].
        shape: Landmarks about the middle, shape (21, 3), [m].
    """

    label: Label
    uv: Array
    depth: Array
    shape: Array


class HandFrame(NamedTuple):
    """Hands in an image; ``focal`` and ``centre`` in [px]."""

    stamp_ns: int
    seq: int
    focal: tuple[float, float]
    centre: tuple[float, float]
    hands: tuple[Hand, ...]

    def find(self, label: Label) -> Hand | None:
        """Return a hand, or None."""
        return next((hand for hand in self.hands if hand.label == label), None)


def make_shape(curl: float = 0.0, pinch: float = 0.0) -> Array:
    """Return an upright hand's landmarks about its middle, (21, 3), [m].

    ``curl``: 0 flat … 1 fist; ``pinch``: 1 joins thumb and index.
    """
    shape = np.zeros((21, 3))
    for finger in range(5):
        bends = _BENDS * curl * (_NEAR if finger == 0 else 1.0)
        point = np.append(_ROOTS[finger], 0.0)
        shape[1 + 4 * finger] = point
        turn = 0.0
        side = np.array([-np.sin(_SPREAD[finger]), np.cos(_SPREAD[finger]), 0.0])
        for joint in range(3):
            turn += bends[joint]
            along = np.cos(turn) * side + np.array([0.0, 0.0, -np.sin(turn)])
            point = point + _BONES[finger, joint] * along
            shape[2 + 4 * finger + joint] = point
    middle = 0.5 * (shape[4] + shape[8]) + np.array([0.0, 0.0, -0.02])
    for tip in (4, 8):
        shape[tip] += pinch * (middle - shape[tip])
    shape[:, 1] *= -1.0  # the image's y points down
    middle_of_all: Array = shape.mean(axis=0)
    return shape - middle_of_all


def make_hand(
    p_cam: Array, label: Label = "right", curl: float = 0.0, pinch: float = 0.0
) -> Hand:
    """Return a hand with its middle finger's root at ``p_cam``.

    ``p_cam`` is in camera axes, (3,), [m]. ``curl``: 0 flat … 1 fist; ``pinch``: 1
    joins thumb and index.
    """
    shape = make_shape(curl, pinch)
    if label == "left":
        shape = shape * [-1.0, 1.0, 1.0]
    points = shape - shape[9] + np.asarray(p_cam)
    uv = FOCAL * points[:, :2] / points[:, 2:] + CENTRE
    return Hand(label, uv, points[:, 2].copy(), shape)


def make_frame(t: float, seq: int, *hands: Hand) -> HandFrame:
    """Return hands at a time [s]."""
    return HandFrame(round(t * 1e9), seq, (FOCAL, FOCAL), CENTRE, hands)
