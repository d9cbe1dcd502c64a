"""Path of a hand: the sum of its seen motions.

Up to five images without the hand, or with a leap, are held through.
"""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import Vec

_MOST_HELD = 5  # spec: requirements.md A9
_MAX_SPEED = 3.0  # [m/s] spec: safety.md A5
_NOISE = 0.02  # [m] chosen: depth at 1 m errs by 1 %, and once more
_LONGEST = 0.1  # [s] chosen: however long it was unseen, it moved on for no longer
_N_FOUND = 3  # chosen: images that agree before a hand counts as found


class HandTrack:
    """The path of one hand.

    Attributes:
        p: Output, (3,), [m].
        n_held: Consecutive images held through.
    """

    def __init__(self) -> None:
        self.p: Vec = np.zeros(3)
        self.is_known = False
        self.n_held = self.n_leaps = self.n_lost = 0
        self._last: tuple[Vec, float] | None = None
        self._n_agreeing = 0

    def update(self, p: Vec | None, t: float) -> bool:
        """Take a position, (3,), [m], or None; return its use."""
        if p is None or not np.isfinite(p).all() or self._is_leap(p, t):
            self.n_leaps += p is not None
            self._hold()
            return False
        if self._last is not None:
            self.p = self.p + (p - self._last[0])
        self._last = (p, t)
        self.n_held = 0
        self._n_agreeing += 1
        self.is_known = self.is_known or self._n_agreeing >= _N_FOUND
        return True

    def lose(self) -> None:
        """Mark the hand as lost."""
        self.n_lost += self.is_known
        self.is_known, self._last, self._n_agreeing = False, None, 0

    def _hold(self) -> None:
        self.n_held += 1
        self._n_agreeing = 0
        if self.n_held > _MOST_HELD:
            self.lose()

    def _is_leap(self, p: Vec, t: float) -> bool:
        if self._last is None:
            return False
        before, then = self._last
        dt = min(max(t - then, 0.0), _LONGEST)
        return float(np.linalg.norm(p - before)) > _MAX_SPEED * dt + _NOISE
