"""Contact force from a stiff drive's efforts, relative to free motion."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec

_BAND = 3.0  # [N·m] chosen: friction of drives that changes sign, and ripple
_LEFT = 1.5  # [N·m] chosen: half of it; contact ends there
_FRICTION_SHARE = 0.7  # chosen: of its peak; a light press and friction that turned
_FREE_TIME = 0.15  # [s] chosen: weight changes by less than the band in it, at 1 rad/s
_TOUCH_TIME = 30.0  # [s] chosen: longer than one presses; a mistake is forgotten
_QUIET = 0.1  # chosen: of A; a hand at constant speed asks the joints for less
_QUIET_TIME = 0.1  # [s] chosen: a drive follows an acceleration within it


class TouchDetector:
    """Detector of effort beyond that of free motion."""

    def __init__(self, ddq_max: Vec, full: float) -> None:
        """Prepare for limits A, (n,), [rad/s²], and full touch, [N·m]."""
        self._per_ddq, self._full = 1.0 / ddq_max, full
        self.choose_joints(np.ones(ddq_max.shape, dtype=np.bool_))

    def choose_joints(self, counts: npt.NDArray[np.bool_]) -> None:
        """Set the joints that count, shape (n,), and reset."""
        self._counts = counts
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._free: Vec | None = None
        self._dq: Vec | None = None
        self._activity = 1.0
        self._begin = self._dq_begin = self._mean = np.zeros(self._per_ddq.shape)
        self._is_touching, self._peak = False, 0.0

    def step(self, tau: Vec, dq_cmd: Vec, dt: float) -> float | None:
        """Return the touch, 0 … 1, from efforts, (n,), [N·m]; None: unknown or none."""
        tau = np.where(self._counts, tau, 0.0)
        if not math.isfinite(float(np.add.reduce(tau))):
            self.reset()
            return None
        if self._free is None or self._dq is None or dt <= 0.0:
            self._free, self._mean, self._dq = tau, tau, dq_cmd.copy()
            return None
        ddq = np.abs(dq_cmd - self._dq) * self._per_ddq
        self._dq = dq_cmd.copy()
        fading = self._activity * math.exp(-dt / _QUIET_TIME)
        self._activity = max(float(np.max(ddq[self._counts], initial=0.0)) / dt, fading)
        self._mean = self._mean + (tau - self._mean) * (dt / (_FREE_TIME + dt))
        if not self._is_touching and self._activity >= _QUIET:
            self._free = tau  # inertia, and no telling what else
        beyond = _measure(tau, self._free)
        if self._is_touching and self._has_ended(tau, beyond):
            self._is_touching, self._free, self._activity = False, tau, 1.0
        elif not self._is_touching and beyond > _BAND:
            self._is_touching, self._peak = True, beyond
            self._begin, self._dq_begin = self._free, self._dq
        time = _TOUCH_TIME if self._is_touching else _FREE_TIME
        self._free = self._free + (tau - self._free) * (dt / (time + dt))
        return min(beyond / self._full, 1.0) if self._is_touching else None

    def _has_ended(self, tau: Vec, beyond: float) -> bool:
        # Friction turns with the motion: what is left of the effort after the motion
        # turned back, and does not change with it, is friction.
        self._peak = max(self._peak, beyond)
        if min(beyond, _measure(tau, self._begin)) < _LEFT:
            return True
        has_turned = self._dq is not None and float(self._dq @ self._dq_begin) < 0.0
        is_steady = _measure(tau, self._mean) < _LEFT
        return has_turned and is_steady and beyond < _FRICTION_SHARE * self._peak


def _measure(tau: Vec, reference: Vec) -> float:
    return float(np.maximum.reduce(np.abs(tau - reference)))
