"""What a phone may do besides faults 1 to 10 (contract/test_leader_faults)."""

from __future__ import annotations

import numpy as np
import pytest
from emulated_hands import PageHand

from paprle.testing.stepped import H, SteppedSession


@pytest.fixture
def session():
    session = SteppedSession(("leader=arpose",), PageHand).engage()
    yield session
    session.close()
    session.judge()


def find_eef(session):
    limb = session.session.plan.robot.limbs["arm"]
    return limb.fk(limb.take(session.q_cmd)).translation


def test_the_robot_follows_the_phone_forward(session):
    before = find_eef(session)
    session.hand.speed = 0.2
    session.step(0.5)
    session.hand.speed = 0.0
    session.step(0.3)

    np.testing.assert_allclose(find_eef(session) - before, [0.1, 0, 0], atol=2e-3)


def test_a_phone_that_repeats_itself_for_2_s_is_reported(session):
    session.step(3.0)

    assert session.state == "ENGAGED"
    assert session.session.core.stuck.limbs == ("hand",)


def test_a_release_hidden_in_a_short_stall_moves_nothing(session):
    """Let go, hand moved 2 cm, pressed, within 80 ms of which nothing came."""
    session.step(0.3)
    still, hand = session.q_cmd, session.hand
    hand.fault, hand.is_held = "late", False
    session.step(4 * H)
    hand.y += 0.02
    session.step(4 * H)
    hand.is_held = True
    session.step(6 * H)
    hand.fault = ""
    session.step(1.0)

    assert session.state == "ENGAGED"
    assert np.abs(session.q_cmd - still).max() < 1e-12


def test_a_connection_that_ends_lets_go(session):
    session.hand.speed = 0.2
    session.step(0.3)
    session.hand.device.end(session.hand)
    session.hand.fault = "off"
    session.step(3 * H)

    assert session.state == "CLUTCHED"


@pytest.mark.parametrize("jump", [3.6e6, -3.6e6])
def test_a_clock_of_the_phone_that_jumps_extends_no_life(session, jump):
    session.hand.speed = 0.1
    session.step(0.3)
    session.hand.ahead_ms = jump
    session.step(0.5)
    assert session.state in {"ENGAGED", "CLUTCHED"}

    session.hand.fault = "off"
    session.step(0.1 + 3 * H)
    assert session.state == "CLUTCHED"
