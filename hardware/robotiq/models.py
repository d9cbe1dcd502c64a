"""Figures of Robotiq's grippers.

Source: Robotiq, instruction manuals of 2F-85, 2F-140 and Hand-E, specifications.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_MOST = 255  # spec: positions, speeds and forces are bytes


@dataclass(frozen=True, slots=True)
class Model:
    """Ranges of a gripper.

    Attributes:
        stroke: Full opening, [m].
        opened: [counts].
        closed: [counts].
        speed: Least and most, [m/s].
        force: Least and most, [N].
    """

    stroke: float
    opened: int
    closed: int
    speed: tuple[float, float]
    force: tuple[float, float]

    def to_counts(self, opening: float) -> int:
        """Return the position for an opening, [m]."""
        share = min(max(opening / self.stroke, 0.0), 1.0)
        if share <= 0.0:
            return _MOST  # beyond closed: the fingers press on each other, or on a foil
        return round(self.closed + share * (self.opened - self.closed))

    def to_opening(self, counts: int) -> float:
        """Return the opening, [m], at a position."""
        share = (counts - self.closed) / (self.opened - self.closed)
        return self.stroke * min(max(share, 0.0), 1.0)

    def to_force(self, share: float) -> float:
        """Return the grip, [N], at a share, 0 … 1."""
        weakest, strongest = self.force
        return weakest + share * (strongest - weakest)


MODELS: Mapping[str, Model] = {
    # spec: Robotiq, "Encoder bytes", the 2F-85's fingers meet at 230 and open to 3
    "2f85": Model(0.085, 3, 230, (0.020, 0.150), (20.0, 235.0)),
    # chosen: the counts of the 2F-85, which has the same drive
    "2f140": Model(0.140, 3, 230, (0.030, 0.250), (10.0, 125.0)),
    # chosen: the whole range; where its fingers meet depends on how they are mounted
    "hande": Model(0.050, 0, 255, (0.020, 0.150), (20.0, 130.0)),
}
"""By the name that settings use."""
