"""The gate's reasons, bits for the clauses of ``docs/SAFETY.md``."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache


class Reason(IntEnum):
    """A clause that acted in a tick; the value is its bit."""

    NOT_FINITE = 0  # M1: the command held NaN, infinity, or had the wrong shape
    POSITION = 1  # M2: the command was clipped to the position limits
    VELOCITY = 2  # M3: the step was scaled to the velocity limits
    ACCELERATION = 3  # M4, V1: the step was scaled to what can still be stopped
    DT_CHANGED = 4  # the caller's dt is not the gate's period; it brakes
    BLOCKED = 5  # L1: standstill while commanded; the command stays within E of q_meas
    COMMAND_STALE = 6  # A1, A2: no fresh set-point; brakes
    COMMAND_LOST = 7  # A1: silent for so long that STOPPED is latched
    OLD_SEQUENCE = 8  # A3: a duplicate or older set-point was dropped
    SEQUENCE_JUMP = 9  # A3: a set-point of an unknown session or an absurd number
    LAG = 10  # L1: q_meas stays behind by more than E; holds and re-synchronises
    OVERSPEED = 11  # L2: measured motion is faster than commanded; stops
    REVERSED = 12  # L2: measured motion goes the other way; stops
    STATE_STALE = 13  # L3: the follower's state is old; holds
    STATE_LOST = 14  # L3: the follower's state is so old that STOPPED is latched
    STATE_BAD = 15  # the measured state is not finite or not plausible; holds
    OPERATOR_STOP = 16  # E1: the operator pressed Stop
    PEER_DIED = 17  # K3: the session process is gone
    FOLLOWER_STOP = 18  # E3, T2: the robot's own stop, or somebody else commands it
    FOLLOWER_FAULT = 19  # the follower's driver raised
    LATE = 21  # the gate missed a deadline
    STALLED = 22  # K2: the gate itself stood still for three periods; holds
    CLEARANCE = 23  # C1: slowed down or turned aside to keep clear of something
    UNVERIFIED = 24  # V2: no verified stop follows the wanted step; brakes (partly)
    QP_FAILED = 25  # the solver gave nothing usable; brakes
    TOOL_SPEED = 26  # C2: scaled to the Cartesian speed limit
    SINGULARITY = 27  # C3: slowed down towards a singularity


HOLD_REASONS = frozenset(
    {
        Reason.COMMAND_STALE,
        Reason.LAG,
        Reason.STATE_STALE,
        Reason.STATE_BAD,
        Reason.STALLED,
    }
)
"""Reasons that put an engaged gate into HOLD."""

STOP_REASONS = frozenset(
    {
        Reason.COMMAND_LOST,
        Reason.OVERSPEED,
        Reason.REVERSED,
        Reason.STATE_LOST,
        Reason.OPERATOR_STOP,
        Reason.PEER_DIED,
        Reason.FOLLOWER_STOP,
        Reason.FOLLOWER_FAULT,
    }
)
"""Reasons that latch STOPPED from any state."""


def to_bits(reasons: Iterable[Reason]) -> int:
    """Return the word with those bits set."""
    word = 0
    for reason in reasons:
        word |= 1 << reason
    return word


@lru_cache(maxsize=256)  # chosen: a gate repeats a few words in every period
def from_bits(word: int) -> tuple[Reason, ...]:
    """Return the reasons whose bits are set."""
    return tuple(reason for reason in Reason if word >> reason & 1)
