"""A UR5e with a Robotiq 2F-85 behind its URCap, driven as one robot."""

import numpy as np
import pytest
from ur_rig import EmulatedUr, cycle, load

from paprle.contracts.errors import DeviceError
from paprle.contracts.settings.robotiq import RobotiqSettings
from paprle.followers.ur.config import UrConfig
from paprle.followers.ur.follower import UrFollower
from paprle.testing.followers import FollowerContract

pytestmark = pytest.mark.process
HAND = RobotiqSettings(model="2f85", activates=True)
FINGER = 6


@pytest.fixture(scope="session")
def robot():
    return load("ur5e_2f85")


@pytest.fixture
def arm(tmp_path):
    with EmulatedUr(tmp_path, gripper="2f85") as arm:
        yield arm


@pytest.fixture
def config(arm):
    return UrConfig(host=arm.host, rate=250.0, robotiq=HAND)


@pytest.mark.nightly
class TestUrWithGripper(FollowerContract):
    settle_time = 2.0

    @pytest.fixture
    def clock(self, clock):
        return clock

    @pytest.fixture(autouse=True)
    def _rig(self, arm, config, robot):
        self.arm, self.config, self.robot = arm, config, robot

    def make_follower(self, clock):
        return UrFollower(self.config, self.robot, clock)

    def unplug(self, follower):  # noqa: ARG002 - as the suite calls it
        self.arm.do("unplug")


def list_gripper_events(arm):
    return [text for _, text in arm.read().events if text.startswith("gripper")]


def test_without_consent_opening_refuses_and_no_finger_moves(arm, robot, clock):
    config = UrConfig(host=arm.host, rate=250.0, robotiq=RobotiqSettings(model="2f85"))
    follower = UrFollower(config, robot, clock)

    with pytest.raises(DeviceError, match="env.robotiq.activates=true"):
        follower.open()

    assert list_gripper_events(arm) == []


def test_it_closes_on_an_object_and_the_arm_stands(arm, follower, clock):
    begin = follower.read().q.copy()
    arm.do("gripper_object", opening=0.03)
    q = begin.copy()
    q[FINGER] = 0.0

    state = cycle(follower, clock, q, until=lambda s: s.tau[FINGER] < 0, time_s=5.0)

    assert state.tau[FINGER] == pytest.approx(-63.0)
    assert state.q[FINGER] == pytest.approx(0.015, abs=1e-3)
    assert np.abs(state.q - begin)[:FINGER].max() < 1e-3
    assert state.stop_reason == ""


@pytest.mark.parametrize("order", ["gripper_fault", "gripper_reset"])
def test_a_gripper_that_fails_is_a_stop_with_a_remedy(arm, follower, clock, order):
    arm.do(order)

    state = cycle(follower, clock, until=lambda s: s.stop_reason, time_s=5.0)

    assert state.stop_reason.startswith("gripper: ")
    assert "; " in state.stop_reason


def test_settings_that_name_no_gripper_or_one_too_many_are_refused(robot, clock):
    bare = UrFollower(UrConfig(), robot, clock)
    assert "expected the gripper of 'ur5e_2f85'" in bare.preflight()[0]

    other = UrFollower(UrConfig(robotiq=HAND), load("ur5e"), clock)
    assert "'ur5e' has no gripper" in other.preflight()[0]


def test_the_doctor_examines_it_without_motion(arm, config, robot, clock):
    found = list(UrFollower(config, robot, clock).diagnose())

    assert any(not is_well and "activate it" in text for is_well, text in found)
    assert list_gripper_events(arm) == []
