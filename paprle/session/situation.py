"""Inputs of a decision."""

from __future__ import annotations

from typing import NamedTuple

from paprle.contracts.types import Actions, GateState, SessionState
from paprle.gate.reasons import Reason

GATE_SILENCE_NS = 250_000_000  # spec: safety.md K2
_STALLED = 1 << Reason.STALLED
_SILENT = 1 << Reason.COMMAND_STALE
_OURS = _SILENT | 1 << Reason.STATE_STALE


class Situation(NamedTuple):
    """Inputs of a decision.

    Attributes:
        is_gate_silent: Silent for too long (K2).
        stood_ns: Last standstill of this machine, [ns].
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
        return self.now_ns - self.stood_ns < GATE_SILENCE_NS

    def is_hiccup(self, latched: int) -> bool:
        """Return whether the gate holds only for a short standstill of either process.

        It is no silence of the operator (S3).
        """
        return not latched & ~(_STALLED | _OURS if self._has_just_stood else _STALLED)

    def was_away(self, latched: int) -> bool:
        """Return whether a standstill was so long that motion has ended."""
        is_held = self.gate is GateState.HOLD and bool(latched & _SILENT)
        return self.is_gate_silent or (is_held and not self._has_just_stood)
