"""The session's states, told as stories; all else leaves a state as it is."""

from __future__ import annotations

import itertools

import pytest

from paprle.contracts.types import SessionState
from paprle.ipc.records import Request
from paprle.session.states import EPISODE_STATES, REQUESTS, SessionEvent, step_state

STORIES = {
    "an episode": "INIT READY HOMING ARRIVED WAITING START ALIGNING ALIGNED ENGAGED "
    "END RESETTING ARRIVED WAITING",
    "the clutch": "ENGAGED DISENGAGE CLUTCHED REENGAGE ENGAGED",
    "elsewhere after the clutch": "CLUTCHED REALIGN ALIGNING DISENGAGE CLUTCHED",
    "another posture": "ENGAGED REPOSTURE ALIGNING",
    "an end with the clutch open": "CLUTCHED END RESETTING",
    "an end before it began": "ALIGNING END RESETTING",
    "slow moves that cannot be made": "HOMING ABORT WAITING START ALIGNING ABORT "
    "RESETTING ABORT WAITING",
    "after a stop": "STOPPED RESET WAITING HOME RESETTING",
}
ALWAYS = {SessionEvent.STOP: "STOPPED", SessionEvent.QUIT: "CLOSING"}
MOVING = {"HOMING", "ALIGNING", "ENGAGED", "RESETTING"}


def tell():
    """Return (state, event) → state of all stories."""
    told = {}
    for story in STORIES.values():
        words = story.split()
        for before, event, after in zip(
            words[::2], words[1::2], words[2::2], strict=False
        ):
            told[SessionState[before], SessionEvent[event]] = SessionState[after]
    return told


@pytest.mark.parametrize("state", SessionState)
def test_states_follow_the_stories_and_nothing_else(state):
    told = tell()
    for event in set(SessionEvent) - set(ALWAYS):
        assert step_state(state, event) is told.get((state, event), state)


@pytest.mark.parametrize(
    ("state", "event"), list(itertools.product(SessionState, ALWAYS))
)
def test_a_stop_and_quitting_lead_there_from_anywhere_but_closing(state, event):
    after = "CLOSING" if state is SessionState.CLOSING else ALWAYS[event]

    assert step_state(state, event) is SessionState[after]


@pytest.mark.parametrize("state", SessionState)
def test_the_gate_is_asked_to_move_in_moving_states_alone(state):
    expected = Request.MOVE if state.name in MOVING else Request.READY
    expected = Request.STOP if state is SessionState.STOPPED else expected

    assert REQUESTS[state] is expected


def test_an_episode_lasts_from_aligning_to_its_end():
    assert {s.name for s in EPISODE_STATES} == {"ALIGNING", "ENGAGED", "CLUTCHED"}
