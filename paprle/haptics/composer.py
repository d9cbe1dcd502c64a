"""From the laws' torques to what the leader renders: ramp, caps, passivity, rate.

Two sums go separate ways. ``own`` (bias, weight, friction) depends on the leader alone;
F2 alone answers for it. ``met`` renders the follower, behind delays that nobody bounds:
it comes in softly, and its energy is watched. Their sum stays within the caps, pushes
no harder than the handle may, and changes no faster than the caps' rise (F1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paprle.contracts.feedback_settings import FeedbackSettings
from paprle.contracts.types import Vec
from paprle.haptics.passivity import Passivity

_HANDLE = 0.02**2  # [m²] chosen: a lever arm of 2 cm is where a handle's force blurs


class Hand(NamedTuple):
    """Where one limb's joints are among all, and its handle.

    Attributes:
        rows: Its arm's joints.
        J: Body Jacobian of its handle, shape (6, n_arm); None where there is none.
    """

    rows: slice
    J: Vec | None


class Composer:
    """All joints of the leader, one vector of M.

    Attributes:
        caps: Largest torques, shape (M,), [N·m].
        passivity: Observers and controllers.
        tau: What is rendered until the next step, shape (M,), [N·m].
    """

    def __init__(self, settings: FeedbackSettings, caps: Vec, damping: Vec) -> None:
        self.caps = caps
        # more than the leader's own damping would be felt, and is not stable for sure
        self.passivity = Passivity(damping)
        self._damping = damping
        self._rise = caps / settings.torque_rise
        self._ramp, self._force_cap = settings.ramp, settings.handle_force
        self.reset()

    def reset(self) -> None:
        """Render nothing; both sums will come in softly."""
        self._own_share = 0.0
        self.tau, self._met = np.zeros((2, self.caps.size))
        self.stop_following()

    def stop_following(self) -> None:
        """Render the follower no more, from now on; it will come in softly."""
        self._met_share = 0.0
        self.tau = self.tau - self._met
        self._met = np.zeros(self.caps.size)
        self.passivity.reset()

    def observe(self, moved: Vec) -> None:
        """Count the energy of what stood since the last step.

        Args:
            moved: How far the leader moved meanwhile, shape (M,), [rad].
        """
        self.passivity.observe(self._met, moved)

    def compose(
        self, own: Vec, met: Vec | None, dq: Vec, dt: float, hands: Sequence[Hand]
    ) -> Vec:
        """Return the torques of this step.

        Args:
            own: What the leader's own laws ask for, shape (M,), [N·m].
            met: What those of the follower ask for; None: the leader does not drive.
            dq: How far the leader moved since its last sample over dt, (M,), [rad/s].
            dt: Time between the samples, [s].
            hands: The limbs.
        """
        self._own_share = min(1.0, self._own_share + dt / self._ramp)
        own = _limit(self._own_share * own, self.caps)
        if met is None:
            self.stop_following()
            own = own * self._find_share(own, hands)
            wanted = own
        else:
            self._met_share = min(1.0, self._met_share + dt / self._ramp)
            met = _limit(self._met_share * met, self.caps)
            share = self._find_share(own + met, hands)
            own, met = own * share, met * share
            wanted = own + self.passivity.control(met, dq, dt)
        step = self._rise * dt
        wanted = self.tau + _limit(wanted - self.tau, step)
        self.tau = _limit(wanted, self.caps)
        if met is not None:
            self._met = self.tau - own
        return self.tau

    def damp(self, dq: Vec) -> Vec:
        """Return damping alone, and forget the rest: the leader is too fast (F4)."""
        self.reset()
        self.tau = _limit(-self._damping * dq, self.caps)
        return self.tau

    def _find_share(self, tau: Vec, hands: Sequence[Hand]) -> Vec:
        """Return the share of torques that the force at the handles allows, (M,).

        The force is the least that explains the torques, F = (J Jᵀ + ε)⁻¹ J tau. Along
        a singular direction it says little: there structure carries what is rendered.
        """
        share = np.ones(tau.size)
        for rows, J in hands:
            # |F| ≤ |tau| / 2√ε, whatever the posture: mostly there is nothing to cap
            at_most = float(tau[rows] @ tau[rows]) / (4.0 * _HANDLE)
            if J is None or at_most <= self._force_cap**2:
                continue
            J_p = J[:3]
            gram = J_p @ J_p.T
            gram.flat[::4] += _HANDLE
            F = np.linalg.solve(gram, J_p @ tau[rows])
            force = float(F @ F) ** 0.5
            if force > self._force_cap:
                share[rows] = self._force_cap / force
        return share


def _limit(values: Vec, most: Vec) -> Vec:
    """Return values within ±most; ``np.clip`` takes four times as long."""
    limited: Vec = np.minimum(np.maximum(values, -most), most)
    return limited
