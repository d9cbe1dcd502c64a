"""Fit of a recorded motion to a limb."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paprle.contracts.types import Vec

_BEYOND = 0.1  # [rad] chosen: zeros of two builds of one arm differ by less
_SHARE = 0.05  # chosen: a motion that was made on this robot leaves its limits less


def find_misfit(
    motion: Sequence[Vec | None], names: Sequence[str], q_min: Vec, q_max: Vec
) -> str:
    """Return the joint farthest beyond its limits, [rad], in words, or ""."""
    worst, said = _SHARE, ""
    for q, name, low, high in zip(motion, names, q_min, q_max, strict=True):
        if q is None or not len(q):
            continue
        share = float(np.mean((q < low - _BEYOND) | (q > high + _BEYOND)))
        if share > worst:
            worst = share
            said = (
                f"joint '{name}' from {np.nanmin(q):.2f} to {np.nanmax(q):.2f} [rad] "
                f"where {low:.2f} to {high:.2f} is allowed, {share:.0%} of it outside"
            )
    return said
