"""Age of the motion that a robot shows: way L plus response δ.

The gate reports the set-point it used (L). From q(t) = q_asked(t − L − δ),
δ = −Σ dq·(q − q_asked) / Σ dq·dq over the last seconds.
"""

from __future__ import annotations

import math

import numpy as np

from paprle.contracts.types import Vec
from paprle.reconstruction.mirror_motion import StampedHistory

_WAY = 0.3  # [s] chosen: time constant; what jitters is not the way's length
_RESPONSE = 2.0  # [s] chosen: a few turns of a hand, so that offsets cancel out
_SLOWEST = 0.2  # chosen: by which the operator's time may run slower at the robot
_LONGEST_NS = 200_000_000  # [ns] chosen: no servo takes longer, a held robot does
_OLDEST_NS = 1_000_000_000  # [ns] spec: safety.md A1; what is older drives nothing
_SLOPE_NS = 20_000_000  # [ns] chosen: over which asked velocities are taken
_LEAST = 1e-2  # [rad²/s] chosen: dq·dq summed over time; before, nothing is known


class MirrorLag:
    """Age of the shown motion, ``ns``, [ns]."""

    def __init__(self) -> None:
        self._way = self._response = 0.0
        self.ns = 0
        self._measured_ns = 0
        self._is_known = False
        self._behind = self._moved = 0.0

    def take_way(self, measured_ns: int, way_ns: int | None) -> None:
        """Take the used set-point's age, [ns], if known."""
        if way_ns is not None and abs(way_ns) > _OLDEST_NS:
            way_ns = None
        dt_ns = measured_ns - self._measured_ns
        self._measured_ns = measured_ns
        if way_ns is not None and not self._is_known:
            self._is_known, self._way = True, way_ns
            self.ns = way_ns
            return
        if way_ns is not None:
            share = 1.0 - math.exp(-dt_ns * 1e-9 / _WAY)
            self._way += share * (way_ns - self._way)
        most = _SLOWEST * dt_ns
        wrong = self._way + self._response - self.ns
        self.ns += round(max(-most, min(most, wrong)))

    def take_response(self, dt: float, q: Vec, asked: StampedHistory[Vec]) -> None:
        """Learn the response from joints, (n,), and requests."""
        at_ns = self._measured_ns - round(self._way)
        before = interpolate(asked, at_ns - _SLOPE_NS)
        after = interpolate(asked, at_ns + _SLOPE_NS)
        dq = (after - before) / (2e-9 * _SLOPE_NS)
        keep = math.exp(-dt / _RESPONSE)
        off = q - interpolate(asked, at_ns)
        self._behind = keep * self._behind - dt * float(dq @ off)
        self._moved = keep * self._moved + dt * float(dq @ dq)
        if self._moved > _LEAST and np.isfinite(self._behind):
            response_ns = 1e9 * self._behind / self._moved
            self._response = min(max(0.0, response_ns), _LONGEST_NS)


def interpolate(asked: StampedHistory[Vec], at_ns: int) -> Vec:
    """Return the request at a time, [ns]."""
    a, b, share = asked.find(at_ns)
    return a + share * (b - a)
