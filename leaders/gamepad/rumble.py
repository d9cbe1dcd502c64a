"""What a pad's motors are told of what the follower meets.

The amplitude is the session's (``Feedback.rumble``, from the cues that all leaders
without motors in their joints are given): it comes at once, goes slowly and is 0
whenever the leader does not drive. The strong motor has it always; the weak one, of
higher pitch, joins in where a limit or something near is more than the contact.
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
    amplitude = gain * min(max(feedback.rumble, 0.0), 1.0)
    if not feedback.is_engaged or not amplitude > 0.0:
        return SILENT
    if now_ns - feedback.stamp_ns > _STALE_NS:
        return SILENT
    cues = feedback.cues
    has_more = max(cues.limit, cues.clearance) > cues.contact
    return Motors(amplitude, amplitude if has_more else 0.0)


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
