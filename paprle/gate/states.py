"""The gate's states: a table; other transitions are ignored."""

from __future__ import annotations

from enum import Enum

from paprle.contracts.types import GateState


class GateEvent(str, Enum):
    """Events that may change the gate's state."""

    ARM = "the session asks for READY, and the follower's state is fresh and plausible"
    ENGAGE = "the session asks to move"
    RELEASE = "the session asks to stand, and no fault is present"
    DISARM = "the session asks to disarm, and the arm stands"
    RESET = "the operator reset a stop, its cause is gone, the arm stands"
    HOLD = "a recoverable fault"
    STOP = "a fault that latches"


TABLE: dict[tuple[GateState, GateEvent], GateState] = {
    (GateState.DISARMED, GateEvent.ARM): GateState.READY,
    (GateState.READY, GateEvent.ENGAGE): GateState.ENGAGED,
    (GateState.READY, GateEvent.DISARM): GateState.DISARMED,
    (GateState.READY, GateEvent.HOLD): GateState.HOLD,
    (GateState.ENGAGED, GateEvent.RELEASE): GateState.READY,
    (GateState.ENGAGED, GateEvent.HOLD): GateState.HOLD,
    (GateState.HOLD, GateEvent.RELEASE): GateState.READY,
    (GateState.HOLD, GateEvent.DISARM): GateState.DISARMED,
    (GateState.STOPPED, GateEvent.RESET): GateState.DISARMED,
    **{(state, GateEvent.STOP): GateState.STOPPED for state in GateState},
}


def step_state(state: GateState, event: GateEvent) -> GateState:
    """Return the next state; the same one without a transition."""
    return TABLE.get((state, event), state)
