"""Bodies that are near each other, for those who show them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from paprle.contracts.types import Vec


class Near(NamedTuple):
    """Two bodies that are near each other.

    Attributes:
        links: The links that they hang on; a body of the scene is called by its name.
        distance: Between them, [m]; negative where they overlap.
        share: How near: 0 where it first is worth a word, 1 at what the gate keeps.
        points: Where they are nearest to each other, in the robot's root, shape (2, 3),
            [m].
    """

    links: tuple[str, str]
    distance: float
    share: float
    points: Vec


FindNear = Callable[[Vec], Sequence[Near]]
"""Returns the bodies that are near each other at q, shape (n,), the nearest first."""
