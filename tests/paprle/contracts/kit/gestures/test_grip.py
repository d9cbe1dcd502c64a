"""What grippers say in each state of a session."""

import numpy as np
import pytest

from paprle.contracts.kit.gestures.grip import GripperReading, GripperSignals
from paprle.contracts.types import SessionState

MS = 1_000_000
STEP = 5 * MS


class Session:
    """Steps signals on a clock of our own."""

    def __init__(self):
        self.signals, self.now_ns = GripperSignals(0.2), 0

    def run(self, state, opening, duration, far=0.0):
        """Return what was said in each step of so many milliseconds."""
        reading = GripperReading([opening], [np.zeros(3)], [far])
        known = SessionState[state] if state else None
        said = []
        for _ in range(duration * MS // STEP):
            said.append(self.signals.step(known, reading, self.now_ns))
            self.now_ns += STEP
        return said


def test_start_is_said_while_waiting_and_end_while_engaged():
    session = Session()
    session.run("WAITING", 1.0, 100)
    assert session.run("WAITING", 0.0, 3100)[-1].start

    assert not any(said.end for said in session.run("ENGAGED", 0.0, 4000))
    session.run("ENGAGED", 1.0, 100)
    assert session.run("ENGAGED", 0.0, 3100)[-1].end


@pytest.mark.parametrize("state", ["", "WAITING", "ALIGNING", "ENGAGED", "HOMING"])
def test_hands_are_on_the_arms(state):
    assert all(said.engaged for said in Session().run(state, 0.0, 4000))


def test_paused_session_sees_a_press_in_the_start_signal():
    """A press is an edge: let go, then engaged."""
    session = Session()
    session.run("ENGAGED", 0.0, 100)
    session.run("CLUTCHED", 1.0, 100)

    said = [one.engaged for one in session.run("CLUTCHED", 0.0, 4000)]

    assert said[:500] == [True] * 500
    assert not any(said[581:600])
    assert all(said[600:])


def test_arm_that_comes_back_does_not_engage_by_itself():
    session = Session()
    session.run("ENGAGED", 0.0, 100)
    session.signals.require_press()

    assert not any(one.engaged for one in session.run("CLUTCHED", 1.0, 5000))
    assert session.run("CLUTCHED", 0.0, 3010)[-1].engaged


@pytest.mark.parametrize("state", ["WAITING", "STOPPED", "RESETTING"])
def test_loss_is_forgotten_with_the_episode(state):
    session = Session()
    session.run("ENGAGED", 1.0, 100)
    session.signals.require_press()

    session.run(state, 1.0, 10)

    assert session.run("CLUTCHED", 1.0, 10)[-1].engaged


@pytest.mark.parametrize(("opening", "is_held"), [(0.0, True), (1.0, False)])
def test_opened_grippers_are_reading_off_after_a_stop(opening, is_held):
    assert Session().run("STOPPED", opening, 50)[-1].engaged == is_held
