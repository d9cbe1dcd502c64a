"""Rumble by forces: strong for contact, weak for limits and clearance."""

from __future__ import annotations

from paprle.contracts.kit.cue_output import SILENT, Amplitudes

LASTS = 0.1  # [s] spec: safety.md A1; nobody refreshes it once the session is silent
_REFRESH_NS = 50_000_000  # chosen: half of that
_STEP = 1 / 64  # chosen: a change of the amplitude that a hand does not feel


class Refresher:
    """Schedule of one pad's motor commands."""

    def __init__(self) -> None:
        self._told, self._told_ns = SILENT, 0

    def must_tell(self, motors: Amplitudes, now_ns: int) -> bool:
        """Return whether values are due; count them as sent."""
        is_other = any(
            abs(a - b) > _STEP or (a == 0.0) != (b == 0.0)
            for a, b in zip(motors, self._told, strict=True)
        )
        is_due = motors != SILENT and now_ns - self._told_ns >= _REFRESH_NS
        if not (is_other or is_due):
            return False
        self._told, self._told_ns = motors, now_ns
        return True
