"""Detection that the robot itself is at rest."""

from __future__ import annotations

from paprle.gate.standstill import StandstillDetector
from paprle.ipc.records import Record
from paprle.session.velocity import is_standing

_STANDING = 0.02  # [rad/s] or [m/s] chosen: above encoder noise; as the gate's watches
_FORGET_NS = 100_000_000  # [ns] chosen: a look that is older belongs to another motion


class Settling:
    """Detects rest from gate statuses."""

    def __init__(self) -> None:
        self._still, self._looked_ns = StandstillDetector(), 0

    def look(self, status: Record) -> bool:
        """Return whether the robot stands, by speeds or positions."""
        meas_ns = int(status["meas_ns"])
        if meas_ns - self._looked_ns > _FORGET_NS:
            self._still.forget()
        self._looked_ns = meas_ns
        is_still = self._still.look(status["q_meas"], meas_ns)
        return is_still or is_standing(status["dq_meas"], _STANDING)
