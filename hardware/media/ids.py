"""Colours of identifiers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_TURN = 0.618034  # chosen: the golden ratio: neighbours differ
_BRIGHT = np.array([255.0, 190.0, 125.0])  # chosen: hues nearly come again after 13
_SECTORS = np.array([0.0, 4.0, 2.0])  # spec: where red, green and blue are, of six


def paint_ids(ids: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint8]:
    """Return RGB colours of numbers, shape (height, width, 3); 0 is black."""
    known = np.unique(ids)
    hue = 6.0 * (known * _TURN % 1.0)
    away = np.abs((hue[:, None] - _SECTORS + 3.0) % 6.0 - 3.0)
    bright = _BRIGHT[known % len(_BRIGHT), None]
    colours = (bright * np.clip(2.0 - away, 0.0, 1.0)).astype(np.uint8)
    colours[known == 0] = 0
    painted: npt.NDArray[np.uint8] = colours[np.searchsorted(known, ids)]
    return painted
