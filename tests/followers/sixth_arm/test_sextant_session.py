"""A session drives an arm that came by an entry point, as a user types it."""

import numpy as np
import pytest
from running import RunningSession

pytestmark = [pytest.mark.process, pytest.mark.timed]
HOME = "0,-1.5708,1.5708,-1.5708,-1.5708,0"  # of ur5e


@pytest.fixture
def arm(make_arm, tmp_path):
    with make_arm(tmp_path, q=HOME) as arm:
        yield arm


def test_a_session_drives_it_and_a_collision_ends_the_session(arm, tmp_path):
    words = ("leader=autopilot", "leader.laps=100", "session.episodes=1")
    session = RunningSession([*words, "follower=ur5e", *arm.args], tmp_path / "rec")
    try:
        session.wait_for("ENGAGED")
        while np.abs(arm.read().dq[-50:]).max() < 0.05:
            assert session.process.poll() is None, session.text()
        at_ns = arm.do("collision")

        assert session.wait_gone() == 4
        assert "error 21, collision" in session.text()
    finally:
        session.end()
    record = arm.read()
    late = record.state_stamps > at_ns + 0.3e9
    assert np.abs(record.dq[late]).max() < 0.01
