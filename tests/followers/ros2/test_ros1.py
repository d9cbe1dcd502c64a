"""ROS 1: Debian's roscore and rospy, the emulator and the follower's own session."""

from __future__ import annotations

import numpy as np
import pytest
from product import measure
from ros_rig import EmulatedRos, Received, load_robot, run_master, skip_or_fail
from running import RunningSession

from paprle.hardware.ros.bus import BusError
from paprle.hardware.ros.transports.choice import NodeSettings, open_bus
from paprle.hardware.ros.transports.rospy_bus import find_rospy


@pytest.fixture(scope="module")
def master():
    yield from run_master()


@pytest.mark.nightly
@pytest.mark.process
def test_a_session_drives_a_ros1_robot_within_its_limits(master, tmp_path):
    words = ["robot=piper", "env=ros1_sim", "transport=rospy"]
    rig = EmulatedRos(tmp_path / "robot.jsonl", *words, env=master)
    words = ["leader=autopilot", "leader.size=0.04", "follower=piper", "env=ros1_sim"]
    words += ["session.episodes=1", "session.status=false"]
    session = RunningSession(words, tmp_path / "out", env=master)
    try:
        session.find_pids(("gate",))
        assert session.wait_gone(60.0) == 0, session.text()
        assert rig.end() == 0
    finally:
        session.end()
        rig.end()

    robot = load_robot("piper")
    got = Received(rig, robot, "/arm_controller/command")
    assert got.judge(0.02).is_ok
    assert np.ptp(got.q_meas, axis=0).max() > 0.05
    assert "ROS noetic over rospy" in session.text()
    assert measure(tmp_path / "out")


def test_without_a_master_it_says_what_to_start(monkeypatch):
    if not find_rospy():
        skip_or_fail("ROS 1 is not here: apt-get install python3-rospy")
    monkeypatch.setenv("ROS_MASTER_URI", "http://127.0.0.1:9")

    with pytest.raises(BusError, match="a master at http://127.0.0.1:9"):
        open_bus(NodeSettings(distro="noetic"), "n")
