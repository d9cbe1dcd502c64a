"""Fist and pinch by a hand's shape, with hysteresis and duration.

A finger curls by the bend between first and last bone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from paprle.contracts.types import Vec

_FINGERS = ((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12), (13, 14, 15, 16),
            (17, 18, 19, 20))  # fmt: skip
# chosen: a fist bends fingers by 2.5 and the thumb by 1 rad, a flat hand by 0.3
_CURLED = np.array([0.9, 1.5, 1.5, 1.5, 1.5])  # [rad]
_STRAIGHT = np.array([0.6, 1.0, 1.0, 1.0, 1.0])  # [rad]
_N_FIST = 3  # spec: requirements.md A11: three of five
_N_OPEN = 1  # chosen: a finger or the thumb may stay bent in an open hand
_PINCHED, _APART = 0.3, 0.55  # [palms] chosen: tips touch at 0.15, a lax hand has 0.8
_LAST = 0.08  # [s] chosen: three images; a finger seen wrongly lasts for one


def compute_bends(shape: Vec) -> Vec:
    """Return the bends of thumb and fingers, (5,), [rad]."""
    return np.array([
        _compute_angle(shape[b] - shape[a], shape[d] - shape[c])
        for a, b, c, d in _FINGERS
    ])  # fmt: skip


def compute_pinch(shape: Vec) -> float:
    """Return the thumb-index gap over palm length."""
    palm = float(np.linalg.norm(shape[9] - shape[0]))
    return float(np.linalg.norm(shape[4] - shape[8])) / max(palm, 1e-6)


class Steady:
    """A state that changes only after a while.

    Attributes:
        is_known: Whether it was seen for a while, on or off.
    """

    def __init__(self) -> None:
        self.is_on = self.is_known = False
        self._next = False
        self._since: float | None = None

    def update(self, is_on: bool | None, t: float) -> bool:
        """Return the state at ``t`` [s]; None changes nothing."""
        if is_on is None or (self.is_known and is_on == self.is_on):
            self._since = None
        elif self._since is None or is_on != self._next:
            self._next, self._since = is_on, t
        elif t - self._since >= _LAST:
            self.is_on, self.is_known, self._since = is_on, True, None
        return self.is_on

    def lose(self) -> None:
        """Forget whether it was seen."""
        self.is_known, self._since = False, None


class Gesture(ABC):
    """A steady gesture of a hand."""

    def __init__(self) -> None:
        self._steady = Steady()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed at last sight."""
        return self._steady.is_on

    @property
    def is_known(self) -> bool:
        """Whether the hand was seen since its loss, closed or open."""
        return self._steady.is_known

    def lose(self) -> None:
        """Mark the hand as lost."""
        self._steady.lose()

    def update(self, shape: Vec, t: float) -> bool:
        """Return whether landmarks, (21, 3), gesture at ``t`` [s]."""
        return self._steady.update(self._look(shape), t)

    @abstractmethod
    def _look(self, shape: Vec) -> bool | None:
        """Return whether the shape is the gesture, or None."""


class Fist(Gesture):
    """A fist."""

    def __init__(self) -> None:
        super().__init__()
        self._curled = np.zeros(5, dtype=bool)

    def _look(self, shape: Vec) -> bool | None:
        bends = compute_bends(shape)
        self._curled = np.where(self._curled, bends > _STRAIGHT, bends > _CURLED)
        n = int(self._curled.sum())
        return True if n >= _N_FIST else False if n <= _N_OPEN else None


class Pinch(Gesture):
    """Contact of thumb and index."""

    def _look(self, shape: Vec) -> bool | None:
        gap = compute_pinch(shape)
        return True if gap < _PINCHED else False if gap > _APART else None


def _compute_angle(a: Vec, b: Vec) -> float:
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    if not size > 0.0:
        return 0.0
    return float(np.arccos(np.clip(a @ b / size, -1.0, 1.0)))
