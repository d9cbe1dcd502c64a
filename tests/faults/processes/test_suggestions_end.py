"""The process that suggests is killed under a pushed stick: a whole session, live."""

import time

import numpy as np
import pytest
from moved_pad import MovedPad
from running import RunningSession, judge

pytestmark = [pytest.mark.process, pytest.mark.sim, pytest.mark.nightly]

WORDS = [
    "leader=gamepad",
    "follower=papras_7dof",
    "env=mujoco",
    "env.scenario={}",
    "session.episodes=1",
    "session.duration=14",
    "leader.speed=0.05",
    "retarget.modes=helper",
    "advisors.helper.type=admc",
    "advisors.helper.forward=x",
    "advisors.helper.point=[-0.02,0,0]",
]


def test_suggestions_that_end_leave_the_motion_as_it_is_and_classic_at_rest(tmp_path):
    pad = MovedPad(tmp_path)
    device = f"leader.pads.pad.device={pad.device}"
    session = RunningSession([*WORDS, device], tmp_path / "out")
    try:
        session.find_pids(("gate", "recorder", "advisor:helper"))
        session.wait_for("WAITING")
        pad.move(0.3, leftshoulder=0)
        pad.move(0.5, leftshoulder=1)
        pad.move(1.5, lefty=-1.0)
        killed_ns = session.kill("advisor:helper")
        pad.move(2.0, lefty=-1.0)
        rested_ns = time.monotonic_ns()
        pad.move(1.0, lefty=0.0)
        pad.move(1.0, lefty=-1.0)
        pad.move(0.5, lefty=0.0)
        assert session.wait_gone(60.0) == 0
    finally:
        session.end()
        pad.close()

    episode = session.episode()
    mappings = [e for e in episode.events if e["event"] == "mapping"]
    assert not judge(episode).violations
    before = [e for e in mappings if e["t_ns"] < killed_ns]
    after = [e for e in mappings if e["t_ns"] >= killed_ns]
    assert np.count_nonzero(before[-1]["D"]) > 1, "it was not a suggestion"
    assert all(e["t_ns"] >= rested_ns - 50_000_000 for e in after), "under the stick"
    np.testing.assert_array_equal(np.array(after[-1]["D"])[:3, :3], np.eye(3))
    moving = np.abs(episode.gate["dq_cmd"]).max(axis=1) > 1e-6
    held = (episode.gate["stamp_ns"] > killed_ns) & (
        episode.gate["stamp_ns"] < rested_ns - 200_000_000
    )
    assert moving[held].mean() > 0.95, "the stick was held, and the arm stood"
