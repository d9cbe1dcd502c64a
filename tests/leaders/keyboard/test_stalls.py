"""A terminal over SSH that stalls, in whole sessions: nothing is heard, then all of it.

A terminal that says nothing is a hand that rests, so the session stays engaged; the
robot stands, and what was typed meanwhile does not move it.
"""

import os

import numpy as np
import pytest
from cells import spread
from emulated_hands import KeyHand

from paprle.testing.stepped import H, SteppedSession

HELD = 0.2  # [s] a key that was held counts 0.15 s longer (leader.repeat_time)


class StallingHand(KeyHand):
    """Keys that are kept back while the terminal stalls."""

    def __init__(self, leader, clock, fd):
        super().__init__(leader, clock, fd)
        self.kept = b""

    def tick(self):
        if self.fault == "":
            os.write(self.fd, self.kept)
            self.kept = b""
            super().tick()
            return
        self.n += 1
        if self.speed and self.n % 6 == 0 and self.fault == "late":
            self.kept += b"w"


@pytest.fixture
def session():
    out, fd = os.pipe()
    words = ("leader=keyboard", f"leader.fd={out}")
    session = SteppedSession(words, lambda *hand: StallingHand(*hand, fd))
    session.engage()
    session.hand.speed = 0.1
    session.step(1.0)
    assert session.find_reach() > 1e-3
    yield session
    session.close()
    session.judge()
    os.close(out)
    os.close(fd)


def stand(session):
    """Wait until the robot must stand, and return where."""
    info = session.session.plan.robot.info
    session.step(HELD + float((info.dq_max / info.ddq_max).max()) + 3 * H)
    still = session.q_cmd
    session.step(0.2)
    assert (session.q_cmd == still).all()
    return still


@pytest.mark.long
def test_a_terminal_that_falls_silent_stops_the_robot_and_goes_on(session):
    session.hand.fault = "off"

    stand(session)
    session.hand.fault, since = "", len(session.commands)
    session.step(0.5)

    assert session.state == "ENGAGED"
    assert session.find_reach(since) > 1e-3


@pytest.mark.long
@pytest.mark.parametrize("stall", spread([0.3, 0.5, 2.0, 10.0], 0.3, 2.0))
def test_keys_typed_into_a_stalled_terminal_move_nothing(session, stall):
    session.hand.fault = "late"
    session.step(max(stall - 0.6, 0.0))
    still = stand(session) if stall > 0.3 else session.step(stall).q_cmd
    session.hand.speed = 0.0
    session.hand.fault = ""
    session.step(1.0)

    assert np.abs(session.q_cmd - still).max() < (1e-9 if stall > 0.3 else 1e-3)


@pytest.mark.long
def test_a_key_that_is_still_held_after_a_stall_moves_on(session):
    session.hand.fault = "late"
    stand(session)
    session.hand.fault, since = "", len(session.commands)
    session.step(0.5)

    assert session.find_reach(since) > 1e-3
