"""Session, gate and an emulated ROS 2 robot in processes of their own, over DDS."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from cells import spread
from ros_rig import EmulatedRos, Received, choose_domain, load_robot, need_dds, wait_for
from running import SLACK, RunningSession, judge

ARM = "/arm_controller/joint_trajectory"
LEAD, PERIOD = 0.005, 0.005
FAST = 0.8  # [rad/s] an arm that has to brake

pytestmark = pytest.mark.process


def find_speed(log) -> float:
    """Speed of the desired position at the end of the emulator's log."""
    lines = log.read_bytes()[-20_000:].split(b"\n")[1:-1]
    motion = [e for e in map(json.loads, lines) if e["kind"] == "motion"][-20:]
    if len(motion) < 20:
        return 0.0
    step = np.subtract(motion[-1]["q_des"], motion[0]["q_des"])
    return float(np.abs(step).max() / (motion[-1]["t_ns"] - motion[0]["t_ns"]) * 1e9)


@pytest.fixture
def rig(tmp_path):
    need_dds()
    words = ["robot=piper", "env=ros2_sim", "transport=dds", "interface=loopback"]
    rig = EmulatedRos(tmp_path / "robot.jsonl", *words, f"domain={choose_domain()}")
    yield rig
    rig.end()


@pytest.fixture
def session(rig, tmp_path):
    words = ["leader=autopilot", "leader.speed=0.8", "leader.size=0.3"]
    words += ["leader.laps=20", "follower=piper", "env=ros2_sim", "env.transport=dds"]
    words += ["env.interface=loopback", f"env.domain={choose_domain()}"]
    words += ["session.episodes=1", "session.status=false"]
    session = RunningSession(words, tmp_path / "out")
    session.find_pids()
    assert wait_for(lambda: find_speed(rig.log) > FAST, 60.0), session.text()
    yield session
    session.end()


def test_the_emulator_says_where_it_is_obeys_and_ends(rig):
    assert rig.endpoint["robot"] == "piper"
    assert ARM in rig.endpoint["commands"]
    assert rig.switch("silent") == {"ok": True, "fault": "silent", "on": True}
    assert "melted" in rig.switch("melted")["error"]
    assert rig.end() == 0
    assert rig.entries("motion")


@pytest.mark.timed
@pytest.mark.parametrize("victim", spread(["gate", "session"], "gate"))
def test_after_a_kill_the_robot_brakes_within_the_bound(rig, session, victim):
    at_ns = session.kill(victim)
    time.sleep(1.0)
    rig.end()

    robot = load_robot("piper")
    got = Received(rig, robot, ARM)
    before = int(np.searchsorted(got.motion_ns, at_ns))
    speeds = np.abs(got.find_speeds()[before - 20 : before])
    bound = float((robot.dq_max / robot.ddq_max)[:6].max())
    detection = 2 * PERIOD if victim == "session" else 0.0
    assert speeds.max() > 0.5 * FAST, "it was moving"
    rest = (got.find_rest_ns() - at_ns) * 1e-9
    assert rest <= detection + PERIOD + LEAD + bound + 5 * SLACK
    assert got.judge(PERIOD).is_ok
    assert not rig.entries("refused")


@pytest.mark.nightly
def test_a_robot_that_dies_stops_the_session_with_a_reason(rig, session):
    rig.kill()
    session.wait_gone()

    assert "state_lost" in session.text()


@pytest.mark.nightly
def test_a_second_robot_on_the_topic_stops_it(rig, session):
    at_ns = time.monotonic_ns()
    rig.switch("twice")
    session.wait_gone()

    assert "2 publishers on /joint_states, not 1" in session.text()
    rig.end()
    # what was sent; the robot, busy with a second of itself, takes the newest alone
    assert judge(session.episode()).is_ok
    got = Received(rig, load_robot("piper"), ARM)
    got.q = got.q[got.t_ns < at_ns]
    assert got.judge(PERIOD).is_ok
