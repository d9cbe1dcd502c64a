"""Time-domain passivity, joint by joint (``safety.md`` F3).

The observer adds up the energy that the operator has put into the rendered torques,
E = E₀ − Σ tau Δq with the torque that stood over the interval, which is exact for one
that is held between steps. A torque that moves with the leader is rationed: its power
is at most E − E₀ over a time that is long beside how late torques are, and a trickle of
what is left of E₀. So a spring let go of gives back less than it took, late as it is,
and E₀ is there for leaks alone. A torque that stands, or that the leader presses
against, gives nothing and is not rationed: a static force costs no energy.

The controller damps before E falls below zero, from E₁ on: α = (E₁ − E) / (h dq²), at
most ``alpha_max``; where that is not enough, the joint's torque is ramped to zero, and
comes back slowly, once there is energy or the joint rests (Hannaford and Ryu 2002;
Artigas et al. 2011).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec

_START = 6e-3  # E₀ [J] chosen: what may leak until a torque is ramped out
_DAMP = 4e-3  # E₁ [J] chosen: what rounding of encoders costs in a minute is less
_RAMP = 2e-3  # [J] chosen: below it, damping at its cap does not suffice
_FULL = 0.25  # [J] chosen: what the stiffest spring allowed stores at its torque cap
_OUT, _IN = 0.1, 1.0  # [s] chosen: gone before it is felt as a jerk, back unnoticed
_LASTS = 0.05  # [s] chosen: five times what a torque needs to come and to go
_TRICKLES = 1.0  # [s] chosen: a hand that trembles on a wall spends less of E₀
_STILL = 1e-3  # [rad/s] chosen: slower than an encoder can tell
_RESTS = 0.05  # [rad/s] chosen: a hand that presses is as slow
_SMOOTH = 0.008  # [s] chosen: a count of an encoder is no motion


class Passivity:
    """The observers and controllers of M joints.

    Attributes:
        energy: What the operator has put in and not got back, shape (M,), [J].
        share: Share of the torque that is let through, shape (M,).
        n_damped: Steps in which a controller acted, shape (M,).
    """

    def __init__(self, alpha_max: Vec) -> None:
        m = alpha_max.size
        self._alpha_max = alpha_max
        self.n_damped = np.zeros(m, dtype=np.int64)
        self.energy, self.share = np.full(m, _START), np.ones(m)
        self._slow = np.zeros(m)

    def reset(self, joints: npt.NDArray[np.bool_]) -> None:
        """Forget the energy of these joints, shape (M,): nothing is rendered there."""
        self.energy[joints], self.share[joints] = _START, 1.0
        self._slow[joints] = 0.0

    def observe(self, tau: Vec, moved: Vec) -> None:
        """Count what the torque that stood over the last interval took and gave.

        Args:
            tau: That torque, shape (M,), [N·m].
            moved: How far the joints moved meanwhile, shape (M,), [rad].
        """
        self.energy -= tau * moved
        np.minimum(self.energy, _FULL, out=self.energy)

    def _ration(self, tau: Vec, dq: Vec) -> Vec:
        """Give no faster than what the operator put in lasts."""
        may = np.maximum(self.energy - _START, 0.0) / _LASTS
        may += np.maximum(self.energy, 0.0) / _TRICKLES
        gives = tau * dq
        if (gives <= may).all():
            return tau
        rationed: Vec = tau * np.where(gives > may, may / np.maximum(gives, 1e-12), 1.0)
        return rationed

    def control(self, tau: Vec, dq: Vec, dt: float) -> Vec:
        """Return the torque with what damping the energy asks for, shape (M,)."""
        self._slow += (dq - self._slow) * (dt / (dt + _SMOOTH))
        tau = self._ration(tau * self.share, self._slow)
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
