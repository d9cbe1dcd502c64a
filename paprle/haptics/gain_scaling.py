"""Makes laws that stand as they come as soft as a rig needs; see ``stability`` for F2.

What somebody configured is taken as it is, or refused. Where joint drives joint, each
joint is softened for itself, so that the weakest motor does not mute all others; where
a pose drives, an arm's joints are softened together, because a spring at its eef must
stay one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec
from paprle.haptics.stability import Delays, Margin, Springs, measure_margin

Flags = npt.NDArray[np.bool_]

_FIT = 0.9  # chosen: laws are softened to this share of what is stable


class Fit(NamedTuple):
    """How a limb's laws fit its damping.

    Attributes:
        softness: What the softened laws' torques are multiplied by, shape (m,).
        margin: How near to the bound all laws are then.
    """

    softness: Vec
    margin: Margin


def fit_laws(
    springs: Springs,
    is_soft: Flags,
    groups: Sequence[Vec],
    damping: Vec,
    joints: Sequence[str],
    delays: Delays,
) -> Fit:
    """Soften a limb's laws as far as its damping needs.

    Args:
        springs: Of all laws, over the limb's workspace.
        is_soft: Which laws may be softened, shape (P,).
        groups: Joints that are softened together; each joint in one.
        damping: Measured damping, shape (m,), [N·m·s/rad].
        joints: Names of the limb's joints.
        delays: What makes springs late.

    Returns:
        How soft they had to be made, and how near to the bound they are.
    """
    softness = np.ones(damping.size)
    for group in groups:
        part, names = springs.take(group), [joints[i] for i in group]
        hard, soft = (
            measure_margin(part.mute(which), damping[group], names, delays).ratio
            for which in (is_soft, ~is_soft)
        )
        # λ_max of a sum is at most the sum of both
        if 0.0 < soft < np.inf and hard + soft > _FIT:
            softness[group] = max(_FIT - hard, 0.0) / soft
    whole = _soften(springs, is_soft, softness)
    margin = measure_margin(whole, damping, joints, delays)
    if margin.ratio > _FIT:  # what was configured couples joints (`gravity`): fit all
        hard, soft = (
            measure_margin(whole.mute(which), damping, joints, delays).ratio
            for which in (is_soft, ~is_soft)
        )
        if hard < np.inf and 0.0 < soft < np.inf:
            softness *= min(max(_FIT - hard, 0.0) / soft, 1.0)
        whole = _soften(springs, is_soft, softness)
        margin = measure_margin(whole, damping, joints, delays)
    return Fit(softness, margin)


def _soften(springs: Springs, is_soft: Flags, softness: Vec) -> Springs:
    """Return all laws, those that may be softened as soft as they are made."""
    # within a group the factor is one; between groups nothing soft is stiff
    root = np.sqrt(softness)
    share = np.where(is_soft[:, None, None], root[:, None] * root, 1.0)
    return springs._replace(
        local=springs.local * share, delayed=springs.delayed * share
    )
