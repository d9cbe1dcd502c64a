"""States of the control unit, with remedies."""

from __future__ import annotations

from collections.abc import Mapping

from paprle.hardware.franka.messages import Errors, Mode, State
from paprle.hardware.vendor_arm.states import READY, ArmState, Condition

REMEDIES: Mapping[ArmState, str] = {
    ArmState.PROTECTIVE_STOP: "clear the arm's way; it recovers by itself, then resume",
    ArmState.EMERGENCY_STOP: "release the activation device, then resume",
    ArmState.LOCAL: "leave guiding mode, then resume",
    ArmState.BRAKED: "unlock the joints in Desk and activate FCI, then resume",
    ArmState.FAULT: "recover from the error in Desk, then resume",
    ArmState.ENDED: "it is started again by itself",
}
"""Actions of a person by state. spec: FCI documentation, error handling."""

_BY_MODE: Mapping[Mode, ArmState] = {
    Mode.IDLE: ArmState.ENDED,
    Mode.MOVE: ArmState.LOCAL,
    Mode.GUIDING: ArmState.LOCAL,
    Mode.REFLEX: ArmState.PROTECTIVE_STOP,
    Mode.RECOVERY: ArmState.PROTECTIVE_STOP,
    Mode.USER_STOPPED: ArmState.EMERGENCY_STOP,
    Mode.OTHER: ArmState.BRAKED,
}
_WORDS: Mapping[Mode, str] = {
    Mode.MOVE: "another program moves it",
    Mode.GUIDING: "guiding mode",
    Mode.RECOVERY: "recovering",
    Mode.USER_STOPPED: "user stop",
}


def judge(state: State, errors: Errors, refusal: str) -> Condition:
    """Return an arm's condition."""
    if state.mode is Mode.MOVE and state.is_streaming:
        return READY
    if state.mode is Mode.REFLEX and refusal:
        return Condition(ArmState.FAULT, _join(errors.now or errors.last, refusal))
    words = _WORDS.get(state.mode, "")
    if state.mode is Mode.REFLEX:
        words = errors.now
    return Condition(_BY_MODE[state.mode], _join(words, errors.last * (not words)))


def _join(*words: str) -> str:
    return "; ".join(word.strip("[]") for word in words if word)
