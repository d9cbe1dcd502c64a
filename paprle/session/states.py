"""Session states as a table: PAPRLE's Algorithm 1 with a clutch and a stop."""

from __future__ import annotations

from enum import Enum

from paprle.contracts.types import SessionState as S
from paprle.ipc.records import Request


class SessionEvent(Enum):
    """Events of the session's state machine."""

    READY = "every role runs and the gate is armed"
    ARRIVED = "the slow move has ended"
    START = "the operator's start signal, and the start is allowed (S1)"
    ALIGNED = "the follower stands where the leader's command begins"
    DISENGAGE = "the clutch opened, tracking was lost, data went stale, or HOLD"
    REENGAGE = "a deliberate press after that, or data are back for an automatic one"
    REALIGN = "the same, where the command is absolute and the follower is elsewhere"
    END = "the operator's end signal, or the time is up"
    HOME = "the operator ends what has not begun: the robot goes home"
    REPOSTURE = "a limb is stuck and is to take another posture"
    ABORT = "the slow move cannot be made"
    STOP = "the gate latched STOPPED, or the operator pressed Stop"
    RESET = "the operator cleared the stop and the gate is armed again"
    QUIT = "the operator quits, or no more episodes are wanted"


_RUNNING = (S.HOMING, S.WAITING, S.ALIGNING, S.ENGAGED, S.CLUTCHED, S.RESETTING)

TABLE: dict[tuple[S, SessionEvent], S] = {
    (S.INIT, SessionEvent.READY): S.HOMING,
    (S.HOMING, SessionEvent.ARRIVED): S.WAITING,
    (S.HOMING, SessionEvent.ABORT): S.WAITING,
    (S.WAITING, SessionEvent.START): S.ALIGNING,
    (S.WAITING, SessionEvent.HOME): S.RESETTING,
    (S.ALIGNING, SessionEvent.ALIGNED): S.ENGAGED,
    (S.ALIGNING, SessionEvent.ABORT): S.RESETTING,
    (S.ALIGNING, SessionEvent.DISENGAGE): S.CLUTCHED,
    (S.ALIGNING, SessionEvent.END): S.RESETTING,
    (S.ENGAGED, SessionEvent.DISENGAGE): S.CLUTCHED,
    (S.ENGAGED, SessionEvent.END): S.RESETTING,
    (S.ENGAGED, SessionEvent.REPOSTURE): S.ALIGNING,
    (S.CLUTCHED, SessionEvent.REENGAGE): S.ENGAGED,
    (S.CLUTCHED, SessionEvent.REALIGN): S.ALIGNING,
    (S.CLUTCHED, SessionEvent.END): S.RESETTING,
    (S.RESETTING, SessionEvent.ARRIVED): S.WAITING,
    (S.RESETTING, SessionEvent.ABORT): S.WAITING,
    (S.STOPPED, SessionEvent.RESET): S.WAITING,
    **{(state, SessionEvent.STOP): S.STOPPED for state in (S.INIT, *_RUNNING)},
    **{
        (state, SessionEvent.QUIT): S.CLOSING
        for state in (S.INIT, S.STOPPED, *_RUNNING)
    },
}

REQUESTS: dict[S, Request] = {
    S.INIT: Request.READY,
    S.HOMING: Request.MOVE,
    S.WAITING: Request.READY,
    S.ALIGNING: Request.MOVE,
    S.ENGAGED: Request.MOVE,
    S.CLUTCHED: Request.READY,
    S.RESETTING: Request.MOVE,
    S.STOPPED: Request.STOP,
    S.CLOSING: Request.READY,
}
"""Request of each state to the gate."""

EPISODE_STATES = frozenset({S.ALIGNING, S.ENGAGED, S.CLUTCHED})
"""States that belong to an episode."""


def step_state(state: S, event: SessionEvent) -> S:
    """Return the next state; the same one without a transition."""
    return TABLE.get((state, event), state)
