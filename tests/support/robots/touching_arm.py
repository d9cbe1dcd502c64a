"""Arms with backlash that a person drives until a tool touches a point."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from backlash_arm import BacklashArm

P_EEF_TOOL = np.array([0.02, -0.01, 0.12])
_AWAY = 0.05  # [m] chosen: from where a tool comes down on a point
_NOISE = 3e-4  # [m] chosen: of a person's aim along each axis
_MISSED = 1e-4  # [m] chosen: what a person sees
_STEPS, _LOOKS, _TRIES = 20, 40, 60
_WRIST = {"piper": 0.0}
"""Wrist pitch at which a hand can be tilted to all sides, where home is none."""


def solve(limb, q, T):
    """Return joints that bring the eef to a pose; None if it is out of reach."""
    for _ in range(200):
        off = pin.log6(limb.fk(q).actInv(T)).vector
        if np.abs(off).max() < 1e-9:
            return q
        step = np.linalg.pinv(limb.jacobian(q), 1e-4) @ off
        q = np.clip(q + np.clip(step, -0.1, 0.1), limb.q_min, limb.q_max)
    return None


class TouchingArm(BacklashArm):
    """An arm whose tool is brought to points of its base."""

    def __init__(self, follower, seed, *, is_heavy=True):
        self.rng = np.random.default_rng(seed)
        super().__init__(follower, self.rng, is_heavy=is_heavy)
        q = self.limb.home.copy()
        q[4] = _WRIST.get(follower, q[4])
        self.drive(q)
        self._T_0 = self.T_base_eef
        away = self.rng.uniform(-0.03, 0.03, 3) + [-0.06, 0.0, -0.03]
        self.p_point = self._T_0.act(P_EEF_TOOL) + away

    def touch(self, n):
        """Return n measured poses of the eef while its tool touches the point."""
        Ts, first = [], self.rng.uniform(0.0, 2.0 * np.pi)
        for k in range(_TRIES):
            angle = first + 2.0 * np.pi * len(Ts) / n
            angle += self.rng.uniform(-np.pi, np.pi) if k > n else 0.0
            axis = np.array([np.cos(angle), np.sin(angle), self.rng.uniform(-0.4, 0.4)])
            turn = pin.exp3(self.rng.uniform(0.5, 0.7) * axis)
            T = self._touch(self._T_0.rotation @ turn)
            if T is not None:
                Ts.append(T)
            if len(Ts) == n:
                return Ts
        return None

    def _touch(self, R):
        aim = self.p_point + self.rng.normal(0.0, _NOISE, 3)
        way = [pin.SE3(R, aim - R @ (P_EEF_TOOL + [0, 0, z])) for z in (_AWAY, 0.0)]
        above = solve(self.limb, self.q_motor, way[0])
        if above is None or solve(self.limb, above, way[1]) is None:
            return None
        self.drive(above)
        for z in np.linspace(_AWAY, 0.0, _STEPS + 1)[1:]:
            T = pin.SE3(R, aim - R @ (P_EEF_TOOL + [0, 0, z]))
            self.drive(solve(self.limb, self.q_motor, T))
        if not self._correct(aim):
            return None
        T_measured = self.limb.fk(self.q_motor)
        self.drive(above)
        return T_measured

    def _correct(self, aim):
        """Bring the true tip to the point by sight; return whether it is there."""
        for _ in range(_LOOKS):
            T = self.T_base_eef
            off = aim - T.act(P_EEF_TOOL)
            if np.linalg.norm(off) < _MISSED:
                return True
            J = self.limb.jacobian(self.q_motor)
            slopes = np.vstack([J[:3] - pin.skew(P_EEF_TOOL) @ J[3:], 0.3 * J[3:]])
            wanted = np.concatenate([T.rotation.T @ off, np.zeros(3)])
            self.drive(self.q_motor + np.linalg.pinv(slopes, 1e-3) @ wanted)
        return False
