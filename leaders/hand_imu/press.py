"""Press of an open, still hand in a box (ARBot, A8)."""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import Vec

_BOX = 0.05  # [m] chosen: half its side; a hand held still sways by 1 cm
_SHOWN = 0.3  # [s] chosen: ten images; a hand seen twice lasts for less
_END = 1.0  # [s] chosen: longer than a hand closes by the way


class Press:
    """One hand's press.

    Attributes:
        n: Presses so far.
        asks_to_end: The other hand made a fist for a while.
    """

    def __init__(self, hold: float) -> None:
        """Begin unpressed; a press takes ``hold``, [s]."""
        self._hold = hold
        self.is_held = False
        self.n = 0
        self.asks_to_end = False
        self._box: tuple[Vec, float] | None = None
        self._shown: float | None = None
        self._fist: float | None = None

    def update(self, p: Vec | None, *, is_open: bool, t: float) -> None:
        """Update the hand at p, (3,), [m], or None, and t, [s]."""
        if p is None:
            self.use_up()
        elif not is_open or self._shown is not None:
            self._box = None
        elif self._box is None or np.abs(p - self._box[0]).max() > _BOX:
            self._box = (p, t)
        elif not self.is_held and t - self._box[1] >= self._hold:
            self.is_held = True
            self.n += 1

    def take_other(self, *, is_shown: bool, is_fist: bool, t: float) -> None:
        """Update the other hand at ``t``, [s]."""
        self._shown = (t if self._shown is None else self._shown) if is_shown else None
        self._fist = (t if self._fist is None else self._fist) if is_fist else None
        if self._shown is not None and t - self._shown >= _SHOWN:
            self.use_up()
        self.asks_to_end = self._fist is not None and t - self._fist >= _END

    def use_up(self) -> None:
        """Require another press."""
        self.is_held, self._box = False, None
