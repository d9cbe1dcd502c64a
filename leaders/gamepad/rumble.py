"""What a pad's motors are told of what the follower meets.

Amplitudes are the session's, from the cues that all leaders without motors in their
joints are given: they come at once, go slowly and are 0 whenever the leader does not
drive. The strong motor is contact, as hard as the robot presses; the weak one, of
higher pitch, is limits and clearance.
"""

from __future__ import annotations

from typing import NamedTuple

from paprle.contracts.types import Feedback

LASTS = 0.1  # [s] spec: safety.md A1; nobody refreshes it once the session is silent
_REFRESH_NS = 50_000_000  # chosen: half of that
_STEP = 1 / 64  # chosen: a change of the amplitude that a hand does not feel
_STALE_NS = 100_000_000  # [ns] spec: safety.md A1, T_stale


class Motors(NamedTuple):
    """Amplitudes of a pad's two motors, 0 … 1."""

    strong: float = 0.0
    weak: float = 0.0


SILENT = Motors()


def choose_motors(feedback: Feedback, gain: float, now_ns: int) -> Motors:
    """Return what the motors are to do; pure.

    Args:
        feedback: What the session lets the leader feel.
        gain: Share of the motors' strength.
        now_ns: Monotonic time, [ns]; what is older than 100 ms is not felt.
    """
    if not feedback.is_engaged or now_ns - feedback.stamp_ns > _STALE_NS:
        return SILENT
    return Motors(_limit(gain * feedback.touch), _limit(gain * feedback.warning))


def _limit(amplitude: float) -> float:
    """Return the amplitude within 0 … 1; 0 where it is not a number."""
    return min(amplitude, 1.0) if amplitude > 0.0 else 0.0


class Refresher:
    """Says when the motors of one pad have to be told again."""

    def __init__(self) -> None:
        self._told, self._told_ns = SILENT, 0

    def must_tell(self, motors: Motors, now_ns: int) -> bool:
        """Whether this differs from what they were told, or that is about to end."""
        is_other = any(
            abs(a - b) > _STEP or (a == 0.0) != (b == 0.0)
            for a, b in zip(motors, self._told, strict=True)
        )
        is_due = motors != SILENT and now_ns - self._told_ns >= _REFRESH_NS
        if not (is_other or is_due):
            return False
        self._told, self._told_ns = motors, now_ns
        return True
