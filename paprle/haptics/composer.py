"""Laws' torques within the caps (F1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.contracts.settings.feedback import FeedbackSettings
from paprle.contracts.types import Vec
from paprle.haptics.stability.check import Delays
from paprle.haptics.stability.derating import Derating
from paprle.haptics.stability.passivity import Passivity

_FALL = 10.0  # chosen: of the rise; 3 ms from a cap to zero are two samples
_LATE = 0.006  # [s] chosen: of a bus that nobody measured; later ones are left to F2
_LEVER = 0.02**2  # [m²] chosen: a lever arm of 2 cm is where a handle's force blurs


class Handle(NamedTuple):
    """Rows and body Jacobian, (6, n_arm), of one limb's handle."""

    rows: slice
    J: Vec | None


class LawTorques(NamedTuple):
    """Torques before any limit, shape (M,), [N·m].

    Attributes:
        leader: Of the laws on the leader alone (F2).
        reflected: Of the laws on the follower.
        is_driving: Joints that render the reflected torque.
    """

    leader: Vec
    reflected: Vec
    is_driving: npt.NDArray[np.bool_]


class Composer:
    """Limiter of all M torques, [N·m], and their energy (F3)."""

    def __init__(
        self, settings: FeedbackSettings, caps: Vec, damping: Vec, rate: float
    ) -> None:
        """Prepare for a rate of torques, [Hz]."""
        self.caps = caps
        # more than the leader's own damping would be felt, and is not stable for sure
        late = Delays.of(rate, settings.rig).bus
        n_late = round(late * rate) if late <= _LATE else 0
        self.passivity = Passivity(damping, n_late)
        self._damping = damping
        self._derating = Derating(caps.size, settings.torque_share)
        self._rise = caps / settings.torque_rise
        self._ramp, self._force_cap = settings.ramp, settings.handle_force
        self.reset()

    def reset(self) -> None:
        """Render nothing; both sums ramp in again."""
        m = self.caps.size
        self._leader_share, self._reflected_share = 0.0, np.zeros(m)
        self.tau, self._reflected = np.zeros((2, m))
        self.passivity.reset(np.ones(m, dtype=np.bool_))

    def stop_reflecting(self, joints: npt.NDArray[np.bool_]) -> None:
        """Stop reflecting on these joints, shape (M,), at once."""
        self._reflected_share = np.where(joints, 0.0, self._reflected_share)
        self.tau = self.tau - np.where(joints, self._reflected, 0.0)
        self._reflected = np.where(joints, 0.0, self._reflected)
        self.passivity.reset(joints)

    def observe(self, moved: Vec) -> None:
        """Count the energy of a motion, shape (M,), [rad]."""
        self.passivity.observe(self._reflected, moved)

    def compose(
        self, wanted: LawTorques, dq: Vec, dt: float, handles: Sequence[Handle]
    ) -> Vec:
        """Return this step's torques, shape (M,), [N·m]."""
        drives = wanted.is_driving
        self._leader_share = min(1.0, self._leader_share + dt / self._ramp)
        leader = _limit(self._leader_share * wanted.leader, self.caps)
        if not drives.all():
            self.stop_reflecting(~drives)
        share = np.minimum(1.0, self._reflected_share + dt / self._ramp)
        self._reflected_share = np.where(drives, share, 0.0)
        reflected = _limit(self._reflected_share * wanted.reflected, self.caps)
        share = self._find_share(leader + reflected, handles)
        leader, reflected = leader * share, reflected * share
        tau = leader + self.passivity.control(reflected, dq, dt)
        tau = self._limit_change(tau, self._rise * dt)
        self.tau = _limit(tau, self._derating.find_caps(self.caps))
        self._derating.warm(self.tau, dt)
        self._reflected = np.where(drives, self.tau - leader, 0.0)
        return self.tau

    def _limit_change(self, tau: Vec, step: Vec) -> Vec:
        # It rises by a step at most; it falls quicker, as what the energy no longer
        # covers must end before a hand has moved on.
        before, zero = self.tau, 0.0 * tau
        falls_to = np.minimum(
            np.maximum(tau, np.minimum(before, zero)), np.maximum(before, zero)
        )
        fall = _limit(falls_to - before, _FALL * step)
        return np.asarray(before + fall + _limit(tau - falls_to, step))

    def damp(self, dq: Vec) -> Vec:
        """Return damping alone and reset (F4)."""
        self.reset()
        self.tau = _limit(-self._damping * dq, self.caps)
        return self.tau

    def _find_share(self, tau: Vec, handles: Sequence[Handle]) -> Vec:
        # The force is the least that explains the torques, F = (J Jᵀ + ε)⁻¹ J tau.
        # Along a singular direction it says little: there structure carries what is
        # rendered.
        share = np.ones(tau.size)
        for rows, J in handles:
            # |F| ≤ |tau| / 2√ε, whatever the posture: mostly there is nothing to cap
            at_most = float(tau[rows] @ tau[rows]) / (4.0 * _LEVER)
            if J is None or at_most <= self._force_cap**2:
                continue
            J_p = J[:3]
            gram = J_p @ J_p.T
            gram.flat[::4] += _LEVER
            F = np.linalg.solve(gram, J_p @ tau[rows])
            force = float(F @ F) ** 0.5
            if force > self._force_cap:
                share[rows] = self._force_cap / force
        return share


def _limit(values: Vec, most: Vec) -> Vec:
    limited: Vec = np.minimum(np.maximum(values, -most), most)
    return limited
