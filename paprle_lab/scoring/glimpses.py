"""Images, sampled and shrunk, as what changes between them."""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import Vec
from paprle.recording.video.codec import Image
from paprle_lab.scoring.series import Glimpses

_CELLS = 32  # chosen: along the shorter side; a limb that moves fills some
MOST = 40  # chosen: images of an episode; a minute every 1.5 s
LEAST_STEP = 0.25  # [s] chosen: within less a moving arm may change too little


def choose_times(seconds: float) -> Vec:
    """Return the times at which to look, (M,), [s]."""
    n = int(np.clip(seconds / LEAST_STEP, 1, MOST))
    return np.linspace(0.0, max(seconds - LEAST_STEP / 2, 0.0), n)


def shrink(image: Image) -> Vec:
    """Return the mean grey of each cell of an image (height, width, …)."""
    grey = image.reshape(*image.shape[:2], -1).mean(axis=2, dtype=np.float32)
    side = max(1, min(grey.shape) // _CELLS)
    height, width = (size // side * side for size in grey.shape)
    cells = grey[:height, :width].reshape(height // side, side, width // side, side)
    return np.asarray(cells.mean(axis=(1, 3)), dtype=np.float64)


class Watch:
    """Changes of one camera, from image to image."""

    def __init__(self) -> None:
        self._last: Vec | None = None
        self._t: list[float] = []
        self._changes: list[float] = []
        self._n_missing = 0

    def add(self, t: float, image: Image | None) -> None:
        """Add the image shown at t [s], or none."""
        if image is None:
            self._n_missing += 1
            return
        cells = shrink(image)
        change = np.inf
        if self._last is not None and self._last.shape == cells.shape:
            change = float(np.abs(cells - self._last).max())
        self._t.append(t)
        self._changes.append(change)
        self._last = cells

    def finish(self, missing: float | None = None) -> Glimpses:
        """Return the glimpses, with a share of missing images that is known better."""
        if missing is None:
            missing = self._n_missing / max(self._n_missing + len(self._t), 1)
        return Glimpses(np.array(self._t), np.array(self._changes), missing)
