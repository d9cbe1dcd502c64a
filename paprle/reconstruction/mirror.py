"""Prediction of a remote robot's present pose (T13).

An error-state Kalman filter on SE(3), after Solà, "Quaternion kinematics for the
error-state Kalman filter" (2017), 5, in the operator's time:

    p⁺ = p + s_p Δp,  R⁺ = Exp(s_φ Δφ) R,  s⁺ = s + w
    errors, in the axes of the base: δp = p_true − p,  R_true = Exp(δθ) R,  δs
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.reconstruction.mirror_motion import AskedMotion, Displacement

HORIZON_NS = 500_000_000  # [ns] chosen: gate.stale_after at most: it brakes after that
GATE = 22.46  # spec: χ² of 6 degrees of freedom, 99.9 %
SIGMA_P = 5e-4  # [m] chosen: encoders of a light arm, through its kinematics
SIGMA_PHI = 2e-3  # [rad] chosen: likewise
WALK_P = 5e-3  # [m/√s] chosen: servos lag and limits round corners off
WALK_PHI = 2e-2  # [rad/√s] chosen: likewise
WALK_S_P = 5.0  # [1/√m] chosen: from all to nothing within 4 cm; none while it stands
WALK_S_PHI = 2.0  # [1/√rad] chosen: within a quarter of a radian
_SHARE = 0.5  # [1] chosen: standard deviation of a share that nothing is known of
_HELD = 0.5  # [1] chosen: it follows less than half of what was asked
_MOVED_P, _MOVED_PHI = 3e-3, 2e-2  # [m], [rad] chosen: less says nothing of a wall

_P, _PHI, _S_P, _S_PHI = slice(0, 3), slice(3, 6), 6, 7


class Predicted(NamedTuple):
    """Predicted pose of an end-effector.

    Attributes:
        share: Followed share of the operator's translation, 0 … 1.
        ahead_ns: Length of the operator's motion added to the measurement.
    """

    T_base_eef: pin.SE3
    share: float
    ahead_ns: int
    is_held: bool


class PoseFilter:
    """Filter of one end-effector's pose.

    Attributes:
        shares: Followed shares of translation and rotation, shape (2,).
        P: Covariance of the error (δp, δθ, δs), shape (8, 8).
        stamp_ns: The operator's time; 0: none yet.
        surprise: Squared Mahalanobis distance of the newest innovation.
    """

    def __init__(self) -> None:
        self.T_base_eef = pin.SE3.Identity()
        self.shares: Vec = np.ones(2)
        self.P = np.zeros((8, 8))
        self.stamp_ns = 0
        self.asked = AskedMotion()
        self.surprise = 0.0
        self.counts: Counter[str] = Counter()
        self._may_follow = True

    def update(
        self, stamp_ns: int, T_base_eef: pin.SE3, *, may_follow: bool = True
    ) -> None:
        """Take a pose at the operator's ``stamp_ns``."""
        if not np.isfinite(T_base_eef.homogeneous).all():
            self.counts["not finite"] += 1
            return
        if self.stamp_ns and stamp_ns <= self.stamp_ns:
            self.counts["late"] += 1
            return
        if not self.stamp_ns or may_follow != self._may_follow:
            self._begin(stamp_ns, T_base_eef)
            self._may_follow = may_follow
            return
        self._propagate(stamp_ns)
        self._correct(T_base_eef)

    def predict(self, at_ns: int) -> Predicted:
        """Return the estimate, ``HORIZON_NS`` ahead at most."""
        end_ns = min(at_ns, self.stamp_ns + HORIZON_NS)
        motion = self.asked.measure(self.stamp_ns, end_ns)
        shares = np.clip(self.shares, 0.0, 1.0) * self._may_follow
        is_moved = (
            np.linalg.norm(motion.p) > _MOVED_P
            or np.linalg.norm(motion.phi) > _MOVED_PHI
        )
        slowest = shares[0] if np.linalg.norm(motion.p) > _MOVED_P else shares[1]
        is_held = not self._may_follow or bool(is_moved and slowest < _HELD)
        T = _move(self.T_base_eef, motion, shares)
        return Predicted(T, float(shares[0]), max(0, end_ns - self.stamp_ns), is_held)

    def _begin(self, stamp_ns: int, T_base_eef: pin.SE3) -> None:
        self.stamp_ns, self.T_base_eef = stamp_ns, pin.SE3(T_base_eef)
        self.shares = np.ones(2)
        self.P = np.diag([SIGMA_P**2] * 3 + [SIGMA_PHI**2] * 3 + [_SHARE**2, _SHARE**2])

    def _propagate(self, stamp_ns: int) -> None:
        dt = (stamp_ns - self.stamp_ns) * 1e-9
        motion = self.asked.measure(self.stamp_ns, stamp_ns)
        shares = self.shares * self._may_follow
        F = np.eye(8)
        F[_P, _S_P] = motion.p * self._may_follow
        F[_PHI, _PHI] = pin.exp3(shares[1] * motion.phi)
        F[_PHI, _S_PHI] = motion.phi * self._may_follow
        self.P = F @ self.P @ F.T + make_noise(dt, motion)
        self.T_base_eef = _move(self.T_base_eef, motion, shares)
        self.stamp_ns = stamp_ns

    def _correct(self, T_base_eef: pin.SE3) -> None:
        # The words of an encoder are not doubted: it is the motion that went otherwise.
        turn = T_base_eef.rotation @ self.T_base_eef.rotation.T
        moved = T_base_eef.translation - self.T_base_eef.translation
        innovation = np.concatenate([moved, pin.log3(turn)])
        N = np.diag([SIGMA_P**2] * 3 + [SIGMA_PHI**2] * 3)
        S = self.P[:6, :6] + N
        self.surprise = float(innovation @ np.linalg.solve(S, innovation))
        if self.surprise > GATE:
            self.counts["surprise"] += 1
            shares = self.shares
            self._begin(self.stamp_ns, T_base_eef)
            self.shares = 0.0 * shares  # it pauses until it is seen to follow
            return
        K = np.linalg.solve(S, self.P[:6]).T
        error = K @ innovation
        self.T_base_eef = pin.SE3(
            pin.exp3(error[_PHI]) @ self.T_base_eef.rotation,
            self.T_base_eef.translation + error[_P],
        )
        self.shares = self.shares + error[_S_P:]
        A = np.eye(8)
        A[:, :6] -= K
        self.P = A @ self.P @ A.T + K @ N @ K.T  # Joseph's form stays symmetric


def make_noise(dt: float, motion: Displacement) -> Vec:
    """Return the covariance's growth over dt, [s], and a motion, (8, 8)."""
    walked = [WALK_P**2 * dt] * 3 + [WALK_PHI**2 * dt] * 3
    shares = [
        WALK_S_P**2 * float(np.linalg.norm(motion.p)),
        WALK_S_PHI**2 * float(np.linalg.norm(motion.phi)),
    ]
    noise: Vec = np.diag(walked + shares)
    return noise


def _move(T: pin.SE3, motion: Displacement, shares: Vec) -> pin.SE3:
    R = pin.exp3(shares[1] * motion.phi) @ T.rotation
    return pin.SE3(R, T.translation + shares[0] * motion.p)
