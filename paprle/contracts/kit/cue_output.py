"""Amplitudes of cues; 0 unless the leader drives."""

from __future__ import annotations

from typing import NamedTuple

from paprle.contracts.types import Feedback

_STALE_NS = 100_000_000  # [ns] spec: safety.md A1, T_stale


class Amplitudes(NamedTuple):
    """Amplitudes of contact and warning, 0 … 1."""

    contact: float = 0.0
    warning: float = 0.0


SILENT = Amplitudes()


def choose_amplitudes(feedback: Feedback, gain: float, now_ns: int) -> Amplitudes:
    """Return the amplitudes to render; 0 for feedback older than 100 ms."""
    if not feedback.is_engaged or now_ns - feedback.stamp_ns > _STALE_NS:
        return SILENT
    return Amplitudes(_limit(gain * feedback.touch), _limit(gain * feedback.warning))


def _limit(amplitude: float) -> float:
    return min(amplitude, 1.0) if amplitude > 0.0 else 0.0
