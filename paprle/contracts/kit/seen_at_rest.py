"""Controls that count once seen at rest."""

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
    """Return the numbers near the neutral one."""
    near: npt.NDArray[np.bool_] = np.abs(values - rest) <= NEAR
    return near


class Rest:
    """Controls seen at rest since their loss."""

    def __init__(self, shape: tuple[int, ...], rest: float) -> None:
        self.seen: npt.NDArray[np.bool_] = np.zeros(shape, dtype=np.bool_)
        self._rest = rest

    def note(self, values: Vec) -> None:
        """Update the controls at rest."""
        self.seen |= is_at_rest(values, self._rest)

    def lose(self) -> None:
        """Forget that any was seen."""
        self.seen[...] = False
