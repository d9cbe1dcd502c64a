"""Time-domain passivity by joint (``safety.md`` F3).

The observer counts E = E₀ − Σ tau Δq with the late torque that gave most, and passes
a share E / (E₀ + T |tau| v) ≤ 1. Below E₁ the controller damps by
α = (E₁ − E) / (h dq²) ≤ ``alpha_max``; beyond it the torque ramps to zero (Hannaford
and Ryu 2002; Artigas et al. 2011).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec

_START = 3e-3  # E₀ [J] chosen: what may leak until a torque is ramped out
_DAMP = 2e-3  # E₁ [J] chosen: what rounding of encoders costs in a minute is less
_RAMP = 5e-4  # [J] chosen: below it, neither rationing nor damping suffices
_REFILL = 2e-3  # [W] chosen: at rest alone, up to E₀: less than a hand's tremor takes
_FULL = 0.25  # [J] chosen: what the stiffest spring allowed stores at its torque cap
_OUT, _IN = 0.1, 1.0  # [s] chosen: gone before it is felt as a jerk, back unnoticed
_LASTS = 0.05  # [s] chosen: five times what a torque needs to come and to go
_BACK = 0.25  # [s] chosen: a rationed torque grows so slowly that hands follow
_STILL = 1e-3  # [rad/s] chosen: slower than an encoder can tell
_RESTS = 0.05  # [rad/s] chosen: a hand that presses is as slow
_YIELDS = 0.01  # [rad/s] chosen: who moves with a torque does not hold against it
_SMOOTH = 0.012  # [s] chosen: a count of an encoder is no motion


class Passivity:
    """Observers and controllers of M joints, arrays of shape (M,).

    Attributes:
        energy: From the operator, [J].
    """

    def __init__(self, alpha_max: Vec, n_late: int = 0) -> None:
        """Prepare; ``alpha_max`` in [N·m·s/rad]."""
        m = alpha_max.size
        self._alpha_max = alpha_max
        self._stood = np.zeros((n_late + 1, m))
        self.n_damped = np.zeros(m, dtype=np.int64)
        self.energy, self.share = np.full(m, _START), np.ones(m)
        self._slow, self._level = np.zeros(m), np.full(m, np.inf)

    def reset(self, joints: npt.NDArray[np.bool_]) -> None:
        """Reset the energy of joints that render nothing."""
        self.energy[joints], self.share[joints] = _START, 1.0
        self._slow[joints], self._level[joints] = 0.0, np.inf
        self._stood[:, joints] = 0.0

    def observe(self, tau: Vec, moved: Vec) -> None:
        """Count the energy of torques, [N·m], over a motion, [rad]."""
        self._stood[1:] = self._stood[:-1]
        self._stood[0] = tau
        self.energy -= (self._stood * moved).max(axis=0)
        np.minimum(self.energy, _FULL, out=self.energy)

    def _ration(self, tau: Vec, dt: float) -> Vec:
        size, out = np.abs(tau), np.sign(tau) * self._slow
        needed = _START + _LASTS * size * np.maximum(out - _RESTS, 0.0)
        most = size * np.minimum(np.maximum(self.energy, 0.0) / needed, 1.0)
        level = np.minimum(self._level, size) + size * (dt / _BACK)
        level = np.minimum(level, most)
        self._level = np.where(level >= size, np.inf, level)
        return np.asarray(np.sign(tau) * np.minimum(size, level))

    def _refill(self, tau: Vec, dt: float) -> None:
        rests = (np.abs(self._slow) < _RESTS) & (np.sign(tau) * self._slow < _YIELDS)
        self.energy[rests & (self.energy < _START)] += _REFILL * dt

    def control(self, tau: Vec, dq: Vec, dt: float) -> Vec:
        """Return the torque with the damping that E requires."""
        self._slow += (dq - self._slow) * (dt / (dt + _SMOOTH))
        self._refill(tau, dt)
        tau = self._ration(tau * self.share, dt)
        if self.energy.min() >= _DAMP and self.share.min() >= 1.0:
            return tau
        missing = _DAMP - self.energy
        is_short = (missing > 0.0) & (np.abs(dq) > _STILL)
        alpha = np.where(is_short, missing / (dt * np.maximum(dq * dq, 1e-9)), 0.0)
        is_at_cap = (alpha > self._alpha_max) & (self.energy < _RAMP)
        self.n_damped += is_short
        self.share[is_at_cap] -= dt / _OUT
        comes_back = ~is_at_cap & ((missing <= 0.0) | (np.abs(self._slow) < _RESTS))
        self.share[comes_back] += dt / _IN
        np.maximum(self.share, 0.0, out=self.share)
        np.minimum(self.share, 1.0, out=self.share)
        damped: Vec = tau - np.minimum(alpha, self._alpha_max) * dq
        return damped
