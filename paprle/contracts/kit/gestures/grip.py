"""Operator signals from the grippers.

A hand on an arm is the dead-man, the start signal the press of S3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paprle.contracts.kit.gestures.signals import (
    CLOSED,
    HOLD_NS,
    Hold,
    step_end,
    step_start,
)
from paprle.contracts.types import SessionState, Vec

_ENGAGED, _CLUTCHED = SessionState.ENGAGED, SessionState.CLUTCHED
_STOPPED = SessionState.STOPPED
_PRESS_NS = 100_000_000  # chosen: a session sees a press that lasts twenty periods


@dataclass(frozen=True, slots=True)
class GripperReading:
    """Openings, arm joints and distances from the reset pose, [rad]."""

    openings: Sequence[float]
    arms: Sequence[Vec]
    distances: Sequence[float]


@dataclass(frozen=True, slots=True)
class OperatorSignals:
    """Signals of the operator, as in a sample."""

    engaged: bool
    start: bool = False
    end: bool = False


class GripperSignals:
    """State of the grippers' signals."""

    def __init__(self, box: float) -> None:
        self._box = box
        self._hold = Hold()
        self._was_engaged = False
        self._must_press = False

    @property
    def is_holding(self) -> bool:
        """Whether a signal is being given."""
        return self._hold.since_ns is not None

    def require_press(self) -> None:
        """Require a press before engaging again (S3)."""
        self._must_press = True

    def step(
        self, state: SessionState | None, reading: GripperReading, now_ns: int
    ) -> OperatorSignals:
        """Return the operator's signals at a time, [ns]."""
        is_engaged = state == _ENGAGED
        if is_engaged != self._was_engaged:
            self._was_engaged, self._hold = is_engaged, Hold()
        if state not in {_ENGAGED, _CLUTCHED}:
            self._must_press = False
        openings = reading.openings
        if is_engaged:
            self._hold, end = step_end(
                self._hold, openings, reading.distances, self._box, now_ns
            )
            return OperatorSignals(engaged=not self._must_press, end=end)
        self._hold, start = step_start(self._hold, openings, reading.arms, now_ns)
        if state == _STOPPED:
            is_held = any(1.0 - opening > CLOSED for opening in openings)
            return OperatorSignals(engaged=is_held)
        if state != _CLUTCHED:
            return OperatorSignals(engaged=True, start=start)
        self._must_press = self._must_press and not start
        is_engaged = not self._must_press and not self._is_pressing(now_ns)
        return OperatorSignals(engaged=is_engaged)

    def _is_pressing(self, now_ns: int) -> bool:
        since_ns = self._hold.since_ns
        return since_ns is not None and 0 < since_ns + HOLD_NS - now_ns <= _PRESS_NS
