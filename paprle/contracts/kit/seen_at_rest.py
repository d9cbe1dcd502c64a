"""Axes, triggers and sliders that count only once they were seen at rest.

A stick that reads −1 from plugging in, or a trigger that reads its middle until it is
touched, asks for nothing until its number has been near its neutral one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec

NEAR = 0.05  # chosen: of the way; a spring that is worn returns to within it
AXIS = 0.0
"""The neutral number of a deflection."""
TRIGGER = 1.0
"""The neutral opening of a trigger that closes a gripper: open."""


def is_at_rest(values: Vec, rest: float) -> npt.NDArray[np.bool_]:
    """Return which numbers are near a neutral one; NaN is not."""
    near: npt.NDArray[np.bool_] = np.abs(values - rest) <= NEAR
    return near


class Rest:
    """Which controls were seen at rest since they were lost.

    Attributes:
        seen: For each control, in the shape of its numbers.
    """

    def __init__(self, shape: tuple[int, ...], rest: float) -> None:
        """Begin with none.

        Args:
            shape: Of the controls' numbers.
            rest: Their neutral number.
        """
        self.seen: npt.NDArray[np.bool_] = np.zeros(shape, dtype=np.bool_)
        self._rest = rest

    def note(self, values: Vec) -> None:
        """Note which controls are at rest now."""
        self.seen |= is_at_rest(values, self._rest)

    def lose(self) -> None:
        """Controls were lost: each counts once it is seen at rest again."""
        self.seen[...] = False
