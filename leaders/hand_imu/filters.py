"""Filters of a hand's position (ARBot, requirements A10).

Orientation is not filtered.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

import numpy as np

from paprle.contracts.types import Vec

_IMAGES = 30.0  # [Hz] spec: requirements.md A4, A5: images for which the numbers are
_ALPHA = 0.35  # spec: requirements.md A10
_N_AVERAGED = 10  # spec: the same
_Q, _R = 0.01, 0.1  # spec: the same, an image at 30 Hz
_FARTHEST = 0.05  # [m] chosen: no farther ahead than what A11 warns of


class PositionFilter(Protocol):
    """Filter of a hand's positions."""

    def begin(self, p: Vec, t: float) -> None:
        """Start at a point, (3,), [m], time [s]."""

    def update(self, p: Vec, t: float) -> Vec:
        """Return the filtered position, (3,), [m], at time [s]."""

    def find_delay(self, period: float) -> float:
        """Return the delay of slow motions, [s]."""


class Average:
    """Mean of the last ten images."""

    def __init__(self) -> None:
        self._points: deque[Vec] = deque(maxlen=_N_AVERAGED)

    def begin(self, p: Vec, t: float) -> None:  # noqa: ARG002 - images count alike
        """Start at a point."""
        self._points.clear()
        self._points.extend([p] * _N_AVERAGED)

    def update(self, p: Vec, t: float) -> Vec:  # noqa: ARG002 - likewise
        """Return the mean."""
        self._points.append(p)
        mean: Vec = np.mean(self._points, axis=0)
        return mean

    def find_delay(self, period: float) -> float:
        """Return (n − 1) T / 2, [s]."""
        return 0.5 * (_N_AVERAGED - 1) * period


class Exponential:
    """y⁺ = y + a (p − y), where a is α at 30 Hz, scaled by time."""

    def __init__(self) -> None:
        self._y, self._t = np.zeros(3), 0.0

    def begin(self, p: Vec, t: float) -> None:
        """Start at a point."""
        self._y, self._t = p, t

    def update(self, p: Vec, t: float) -> Vec:
        """Return the filtered position."""
        self._y = self._y + _find_share(t - self._t) * (p - self._y)
        self._t = t
        return self._y

    def find_delay(self, period: float) -> float:
        """Return (1 − a) T / a, [s]."""
        share = _find_share(period)
        return (1.0 - share) * period / share


class Kalman:
    """Position and velocity.

    x = (p, v), p⁺ = p + v dt, Q = 0.01 and R = 0.1 per image at 30 Hz, by axis.
    """

    def __init__(self, ahead: float) -> None:
        """Predict by ``ahead``, τ, [s]."""
        self._ahead, self._t = ahead, 0.0
        self._p, self._v, self._P = np.zeros(3), np.zeros(3), np.eye(2)

    def begin(self, p: Vec, t: float) -> None:
        """Start at a point."""
        self._p, self._v, self._t = p, np.zeros(3), t
        self._P = np.diag([_R, 1.0])

    def update(self, p: Vec, t: float) -> Vec:
        """Return the predicted position."""
        dt, self._t = t - self._t, t
        F = np.array([[1.0, dt], [0.0, 1.0]])
        P = F @ self._P @ F.T + _Q * dt * _IMAGES * np.eye(2)
        gain = P[:, 0] / (P[0, 0] + _R)
        off = p - (self._p + dt * self._v)
        self._p = self._p + dt * self._v + gain[0] * off
        self._v = self._v + gain[1] * off
        self._P = P - np.outer(gain, P[0])
        moved = self._ahead * self._v
        length = float(np.linalg.norm(moved))
        return self._p + moved * min(1.0, _FARTHEST / max(length, 1e-12))

    def find_delay(self, period: float) -> float:  # noqa: ARG002 - of any images
        """Return −τ, [s]."""
        return -self._ahead


def make_filter(name: str, ahead: float) -> PositionFilter | None:
    """Return the named filter, or None; ``ahead`` is Kalman's τ, [s]."""
    made: dict[str, PositionFilter] = {
        "average": Average(),
        "ema": Exponential(),
        "kalman": Kalman(ahead),
    }
    return made.get(name)


def _find_share(dt: float) -> float:
    return float(1.0 - (1.0 - _ALPHA) ** (dt * _IMAGES))
