"""An xArm with a Robotiq gripper on a serial line in place of the maker's."""

import pytest
from piper_rig import load
from ur_rig import cycle

from paprle.contracts.errors import DeviceError
from paprle.contracts.settings.robotiq import RobotiqSettings
from paprle.followers.xarm.config import XArmConfig
from paprle.followers.xarm.follower import XArmFollower
from paprle_emulators import start

pytest.importorskip("serial")
pytestmark = pytest.mark.process


@pytest.fixture(scope="session")
def robot():
    return load("xarm7_2f85")


@pytest.fixture
def hand(tmp_path):
    with start("robotiq", model="2f85", port=tmp_path / "hand") as hand:
        yield hand


@pytest.fixture
def config(arm, hand):
    robotiq = RobotiqSettings(model="2f85", port=hand.port, activates=True)
    return XArmConfig(host=arm.host, robotiq=robotiq)


def test_it_grips_an_object_and_a_lost_line_is_a_stop(follower, clock, robot, hand):
    limb = robot.limbs[0].gripper
    finger = robot.joint_names.index(limb.joint)
    q = follower.read().q.copy()
    hand.order({"fault": "gripper_object", "opening": 0.0425})
    q[finger] = limb.closed

    state = cycle(follower, clock, q, until=lambda s: s.tau[finger] < 0, time_s=5.0)

    assert state.tau[finger] == pytest.approx(-63.0)
    middle = 0.5 * (limb.closed + limb.open)
    assert state.q[finger] == pytest.approx(middle, abs=1e-3 + 0.02 * abs(middle))
    assert state.stop_reason == ""

    hand.order({"fault": "unplug"})
    state = cycle(follower, clock, until=lambda s: s.stop_reason, time_s=3.0)
    assert state.stop_reason.startswith("gripper: ")


def test_without_a_port_it_is_refused_before_anything_is_opened(clock):
    config = XArmConfig(robotiq=RobotiqSettings(model="2f85"))
    follower = XArmFollower(config, load("xarm7"), clock)

    with pytest.raises(DeviceError, match="env.robotiq.port: expected the serial port"):
        follower.open()
    assert "env.robotiq.port" in follower.preflight()[0]
