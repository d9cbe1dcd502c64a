"""One episode as curves in time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.kit.splines import (
    interpolate,
    interpolate_monotonically,
    make_smoother,
)
from paprle.contracts.types import LimbCommand, Vec, readonly
from paprle.leaders.dataset.limbs import LimbRows

_CUTOFF = 10.0  # [Hz] chosen: twice what a hand does; a tracker's noise is above
_FEWEST = 5  # chosen: rows that are smoothed


class _Curves(NamedTuple):
    q: Any = None
    pose: Any = None
    opening: Any = None


class EpisodeTrack:
    """One episode at any instant; holds at both ends.

    Attributes:
        duration: [s].
        period: Median time between rows, [s].
        t: Stamps from 0, (n,), [s].
    """

    def __init__(self, t: Vec, rows: Mapping[str, LimbRows]) -> None:
        self.t, self.rows = t - t[0], rows
        self.duration = float(self.t[-1])
        self.period = float(np.median(np.diff(t)))
        self._limbs = {
            limb: _Curves(
                q=None if own.q is None else interpolate(self.t, own.q),
                pose=None if own.pose is None else _smooth(self.t, own.pose),
                opening=None
                if own.opening is None
                else interpolate_monotonically(self.t, own.opening),
            )
            for limb, own in rows.items()
        }

    def at(self, t: float) -> dict[str, LimbCommand]:
        """Return each limb's command at a time, [s]."""
        t = min(max(t, 0.0), self.duration)
        return {limb: _command(curves, t) for limb, curves in self._limbs.items()}


def _command(curves: _Curves, t: float) -> LimbCommand:
    q = T = opening = None
    if curves.q is not None:
        q = readonly(curves.q(t))
    if curves.pose is not None:
        pose = np.array(curves.pose(t))
        pose[3:] /= np.linalg.norm(pose[3:])
        T = pin.XYZQUATToSE3(pose)
    if curves.opening is not None:
        opening = min(max(float(curves.opening(t)), 0.0), 1.0)
    return LimbCommand(q=q, T_leader_base_leader_eef=T, opening=opening)


def _smooth(t: Vec, poses: Vec) -> Any:
    if len(t) < _FEWEST:
        return interpolate(t, poses)
    # with this penalty of bends, 1 / (1 + (f / cutoff)⁴) of a frequency is left
    density = (len(t) - 1) / (t[-1] - t[0])
    lam = density / (math.tau * _CUTOFF) ** 4
    return make_smoother(t, lam)(poses)
