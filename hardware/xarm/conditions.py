"""Reports as a condition."""

from __future__ import annotations

from paprle.hardware.vendor_arm.states import READY, ArmState, Condition
from paprle.hardware.xarm.codes import explain
from paprle.hardware.xarm.reports import Details, Motion

SERVO, PAUSED, STOPPED, MOVING = 1, 3, 4, 1  # spec: mode; states as reported
_DETAILS_NS = 1_000_000_000  # [ns] chosen: five reports of the condition are missing
_AGAIN = "start the session again"


def judge(
    motion: Motion, details: Details, error: int, now_ns: int
) -> tuple[Condition, str]:
    """Return condition and remedy for servo targets.

    Args:
        motion: Newest.
        details: Newest.
        error: Newest; 0: none.
        now_ns: [ns].
    """
    if error:
        return judge_error(error, details)
    if now_ns - details.stamp_ns > _DETAILS_NS:
        words = "no report of its condition"
        return Condition(ArmState.DISCONNECTED, words), "look at its cable"
    found, remedy = READY, ""
    if motion.state == PAUSED:
        found, remedy = Condition(ArmState.PAUSED), f"it is stopped; {_AGAIN}"
    elif not details.has_power:
        found, remedy = Condition(ArmState.POWER_OFF), _AGAIN
    elif motion.state >= STOPPED or motion.mode != SERVO:
        words = f"state {motion.state}, mode {motion.mode}"
        remedy = f"end the other program, {_AGAIN}"
        found = Condition(ArmState.LOCAL, words)
    return found, remedy


def judge_error(error: int, details: Details) -> tuple[Condition, str]:
    """Return condition and remedy of an error, not 0."""
    state, words, remedy = explain(error, details.servos)
    return Condition(state, words), remedy
