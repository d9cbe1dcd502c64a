"""Bodies near each other, for display."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from paprle.contracts.types import Vec


class Near(NamedTuple):
    """Links or scene bodies near each other.

    Attributes:
        distance: [m]; negative where they overlap.
        share: 0 at the display's threshold, 1 at the gate's clearance.
        points: In the robot's root, (2, 3), [m].
    """

    links: tuple[str, str]
    distance: float
    share: float
    points: Vec


FindNear = Callable[[Vec], Sequence[Near]]
"""Returns the bodies that are near each other at q, shape (n,), the nearest first."""
