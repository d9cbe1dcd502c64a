"""Scaling of default gains to F2; configured gains are kept or refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec
from paprle.haptics.stability.check import Delays, Margin, Springs, measure_margin

Flags = npt.NDArray[np.bool_]

_FIT = 0.9  # chosen: gains are scaled to this share of what is stable


class GainFit(NamedTuple):
    """Fit of a limb's laws to its damping.

    Attributes:
        gain_scale: Factor on torques of laws at default gains, shape (m,).
    """

    gain_scale: Vec
    margin: Margin


def fit_laws(
    springs: Springs,
    is_scalable: Flags,
    groups: Sequence[Vec],
    damping: Vec,
    joints: Sequence[str],
    delays: Delays,
) -> GainFit:
    """Return the scales of a limb's laws, and their margin.

    Joints of a group share a scale; each is in one. ``is_scalable`` has shape (P,),
    ``damping`` (m,), [N·m·s/rad].
    """
    gain_scale = np.ones(damping.size)
    for group in groups:
        part, names = springs.select(group), [joints[i] for i in group]
        fixed, scalable = (
            measure_margin(part.mute(which), damping[group], names, delays).ratio
            for which in (is_scalable, ~is_scalable)
        )
        # λ_max of a sum is at most the sum of both
        if 0.0 < scalable < np.inf and fixed + scalable > _FIT:
            gain_scale[group] = max(_FIT - fixed, 0.0) / scalable
    whole = springs.scale(is_scalable, gain_scale)
    margin = measure_margin(whole, damping, joints, delays)
    if margin.ratio > _FIT:  # configured laws couple joints (`gravity`): fit all
        fixed, scalable = (
            measure_margin(whole.mute(which), damping, joints, delays).ratio
            for which in (is_scalable, ~is_scalable)
        )
        if fixed < np.inf and 0.0 < scalable < np.inf:
            gain_scale *= min(max(_FIT - fixed, 0.0) / scalable, 1.0)
        whole = springs.scale(is_scalable, gain_scale)
        margin = measure_margin(whole, damping, joints, delays)
    return GainFit(gain_scale, margin)
