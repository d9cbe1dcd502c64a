"""States of the gate and the session, as recorded."""

from __future__ import annotations

from enum import IntEnum


class GateState(IntEnum):
    """States of the gate; ``paprle.gate.states`` has the table."""

    DISARMED = 0
    READY = 1
    ENGAGED = 2
    HOLD = 3
    STOPPED = 4


class SessionState(IntEnum):
    """States of the session; ``paprle.session.states`` has the table."""

    INIT = 0
    HOMING = 1
    WAITING = 2
    ALIGNING = 3
    ENGAGED = 4
    CLUTCHED = 5
    RESETTING = 6
    STOPPED = 7
    CLOSING = 8
