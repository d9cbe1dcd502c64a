"""States of a controller, with remedies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class ArmState(Enum):
    """Readiness of any controller."""

    READY = "ready"
    ENDED = "its program does not run"
    PAUSED = "its program is paused"
    PROTECTIVE_STOP = "protective stop"
    SAFEGUARD_STOP = "safeguard stop"
    EMERGENCY_STOP = "emergency stop"
    LOCAL = "local control"
    LED = "led by hand"
    BRAKED = "brakes engaged"
    POWER_OFF = "no power"
    FAULT = "fault"
    DISCONNECTED = "connection lost"


class ArmError(OSError):
    """Unreachable, refusing or unready arm."""


@dataclass(frozen=True, slots=True)
class Condition:
    """State with details; ``remedy`` precedes all others."""

    state: ArmState
    detail: str = ""
    remedy: str = ""

    @property
    def is_ready(self) -> bool:
        """Whether goals are obeyed."""
        return self.state is ArmState.READY


READY = Condition(ArmState.READY)

REMEDIES: Mapping[ArmState, str] = {
    ArmState.ENDED: "it is started again by itself",
    ArmState.PAUSED: "it is started again by itself",
    ArmState.PROTECTIVE_STOP: "clear the arm's way, then unlock it at its pendant",
    ArmState.SAFEGUARD_STOP: "close the safeguard and reset it",
    ArmState.EMERGENCY_STOP: "release the button, then give the arm power again",
    ArmState.LOCAL: "switch to remote control at its pendant",
    ArmState.LED: "let go of its button, then go on from where it is",
    ArmState.BRAKED: "release the brakes at its pendant",
    ArmState.POWER_OFF: "switch the arm on at its pendant",
    ArmState.FAULT: "read its pendant",
    ArmState.DISCONNECTED: "look at its cable and power, then start the session again",
}
"""Actions of a person by state; a maker's own come before them."""

RESUMING = frozenset(
    {ArmState.PAUSED, ArmState.PROTECTIVE_STOP, ArmState.SAFEGUARD_STOP}
)
"""States in which a program waits, to go on with its last goal by itself."""

STARTABLE = frozenset({ArmState.ENDED, ArmState.LOCAL})
"""States in which a program may be started, if the controller lets it."""


def describe(
    condition: Condition, remedies: Mapping[ArmState, str] | None = None
) -> str:
    """Return condition and remedy as text; "" if ready.

    ``remedies`` precede the common ones.
    """
    if condition.is_ready:
        return ""
    detail = f" ({condition.detail})" if condition.detail else ""
    own = remedies or {}
    remedy = condition.remedy or own.get(condition.state, REMEDIES[condition.state])
    return f"{condition.state.value}{detail}; {remedy}"
