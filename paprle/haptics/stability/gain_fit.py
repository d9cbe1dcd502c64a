"""Gain scaling of a limb's laws by F2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paprle.contracts.errors import ConfigError
from paprle.contracts.plugins import FeedbackInput
from paprle.haptics.joints import LeaderJoints, LeaderLimb
from paprle.haptics.stability.check import Delays, Weighted, read_springs
from paprle.haptics.stability.contact_stability import find_held_damping, fit_held
from paprle.haptics.stability.gain_scaling import GainFit, fit_laws

_MOST_DRY = 0.8  # chosen: measured friction is 20 % off at most, and often too low


class LimbFit(NamedTuple):
    """Fit of a limb's laws to its damping.

    Attributes:
        strict: Laws that always act, even on a released leader.
        held: All laws in contact, with the scale of those stiff in contact alone.
    """

    strict: GainFit
    held: GainFit


def fit_limb(
    laws: Sequence[Weighted],
    postures: Sequence[FeedbackInput],
    limb: LeaderLimb,
    joints: LeaderJoints,
    delays: Delays,
    *,
    is_whole: bool,
) -> LimbFit:
    """Return a limb's scales and margins; whole arms share one scale."""
    springs = read_springs(laws, postures)
    is_scalable = np.array([law.is_scalable for law in laws], dtype=np.bool_)
    in_contact = np.array([law.law.is_in_contact for law in laws], dtype=np.bool_)
    groups = limb.split(is_whole=is_whole)
    strict = fit_laws(
        springs.mute(in_contact),
        is_scalable,
        groups,
        joints.damping[limb.rows],
        limb.joint_names,
        delays,
    )
    held = fit_held(
        springs.scale(is_scalable & ~in_contact, strict.gain_scale),
        is_scalable & in_contact,
        groups,
        find_held_damping(limb, joints, find_dry_share(laws)),
        limb.joint_names,
        delays,
    )
    return LimbFit(strict, held)


def find_dry_share(laws: Sequence[Weighted]) -> float:
    """Return the share of dry friction that all laws cancel.

    Raises:
        ConfigError: If too little of it remains.
    """
    share = sum(float(np.max(law.weight)) * law.law.dry_share for law in laws)
    if share > _MOST_DRY:
        raise ConfigError(
            f"feedback: expected at most {_MOST_DRY} of the dry friction cancelled, "
            f"got {share:.2f}; lower feedback.laws.friction.coulomb_share or its weight"
        )
    return share
