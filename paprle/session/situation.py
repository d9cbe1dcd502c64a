"""Inputs of a session's decision beside leaders, motion and episodes."""

from __future__ import annotations

from typing import NamedTuple

from paprle.contracts.types import Actions, GateState, SessionState
from paprle.gate.reasons import Reason

GATE_SILENCE_NS = 250_000_000  # spec: safety.md K2
_STALLED = 1 << Reason.STALLED
_SILENT = 1 << Reason.COMMAND_STALE
_OURS = _SILENT | 1 << Reason.STATE_STALE


class Situation(NamedTuple):
    """Inputs of a decision beside leaders, motion and episodes.

    Attributes:
        now_ns: Monotonic time, [ns].
        state: State of the session.
        entered_ns: When it was entered, [ns].
        gate: State of the gate.
        is_gate_silent: It has said nothing for too long (K2).
        stood_ns: When this machine stood still last, [ns].
        asked: What the operator asked for since the last tick.
        n_quits: How often the operator asked to quit so far.
    """

    now_ns: int
    state: SessionState
    entered_ns: int
    gate: GateState
    is_gate_silent: bool
    stood_ns: int
    asked: Actions
    n_quits: int

    @property
    def _has_just_stood(self) -> bool:
        """Whether this process stood still a moment ago, for less than K2 allows."""
        return self.now_ns - self.stood_ns < GATE_SILENCE_NS

    def is_hiccup(self, latched: int) -> bool:
        """Return whether the gate holds only for a short standstill, ours or its own.

        Such a standstill is not a silence of the operator (S3).

        Args:
            latched: Reasons of the gate's latest HOLD, as bits.

        Returns:
            Whether it does.
        """
        return not latched & ~(_STALLED | _OURS if self._has_just_stood else _STALLED)

    def was_away(self, latched: int) -> bool:
        """Return whether gate or session stood still so long that motion has ended.

        Args:
            latched: Reasons of the gate's latest HOLD, as bits.

        Returns:
            Whether one did; no motion from before resumes by itself.
        """
        is_held = self.gate is GateState.HOLD and bool(latched & _SILENT)
        return self.is_gate_silent or (is_held and not self._has_just_stood)
