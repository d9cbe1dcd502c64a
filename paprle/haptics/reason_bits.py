"""Reason bits that feedback renders."""

from __future__ import annotations

from paprle.gate.reasons import Reason, to_bits

NEAR = to_bits({Reason.CLEARANCE, Reason.UNVERIFIED})
"""Reasons with which the gate keeps the follower clear of something."""

LIMITED = to_bits(
    {
        Reason.POSITION,
        Reason.VELOCITY,
        Reason.ACCELERATION,
        Reason.TOOL_SPEED,
        Reason.SINGULARITY,
    }
)
"""Reasons with which the gate keeps the follower's limits."""

BLOCKED = to_bits({Reason.BLOCKED})
"""The follower stands still although it is commanded to move."""

HELD = NEAR | LIMITED | BLOCKED | to_bits({Reason.LAG, Reason.QP_FAILED})
"""Reasons with which the gate holds a command back."""
