"""Words for the states of a session, the same on every page and terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from paprle.contracts.types import SessionState


class StateWords(NamedTuple):
    """Name of a state, and the behaviour of the robot in it."""

    word: str
    does: str


HELD: Final = "Held"
"""Name in place of ``Driving`` while the robot stands although it is asked to move."""

STATE_WORDS: Final[Mapping[SessionState, StateWords]] = {
    state: StateWords(word, does)
    for state, word, does in (
        (SessionState.INIT, "Starting", "The session starts; the robot does not move."),
        (SessionState.HOMING, "Going home", "The robot moves home slowly. Keep clear."),
        (SessionState.WAITING, "Ready", "The robot holds."),
        (SessionState.ALIGNING, "Aligning", "The robot moves slowly to the leader."),
        (SessionState.ENGAGED, "Driving", "The robot moves with you."),
        (SessionState.CLUTCHED, "Paused", "The robot holds."),
        (
            SessionState.RESETTING,
            "Going home",
            "The episode is over; the robot goes home.",
        ),
        (
            SessionState.STOPPED,
            "Stopped",
            "The robot stays where it is until released.",
        ),
        (SessionState.CLOSING, "Ending", "The session ends."),
    )
}
