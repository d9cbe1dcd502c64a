"""Derating of torque caps by the motors' mean square torque.

Loads should be at most 1/5 of the stall torque (e-manual of every X series model); the
cap of F1 is 3/10 of it.
"""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import Vec

STEADY = 0.2
"""Share of the stall torque that is rendered for long. spec: e-manual, X series."""

_WARMS = 10.0  # [s] chosen: a tenth of what a housing takes; a press is shorter
_BEGINS = 0.8  # chosen: of the steady torque; from there on the cap shrinks


class Derating:
    """Mean square torque, ``load``, (M,), [N²·m²]."""

    def __init__(self, m: int, torque_share: float) -> None:
        """Start cold; ``torque_share``: caps over stall torque."""
        self._steady = min(1.0, STEADY / torque_share)
        self.load = np.zeros(m)

    def find_caps(self, caps: Vec) -> Vec:
        """Return the derated caps, shape (M,), [N·m]."""
        steady = self._steady * caps
        over = (np.sqrt(self.load) / np.maximum(steady, 1e-9) - _BEGINS) / (
            1.0 - _BEGINS
        )
        return np.asarray(
            caps - np.minimum(np.maximum(over, 0.0), 1.0) * (caps - steady)
        )

    def warm(self, tau: Vec, dt: float) -> None:
        """Count a torque, (M,), [N·m], over ``dt``, [s]."""
        self.load += (tau * tau - self.load) * min(dt / _WARMS, 1.0)
