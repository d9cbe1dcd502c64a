"""The contract of any follower, against an emulated xArm 7 in a process of its own."""

import pytest

from paprle.followers.xarm.follower import XArmFollower
from paprle.testing.followers import FollowerContract

pytestmark = pytest.mark.process


class TestXArmFollower(FollowerContract):
    settle_time = 1.0
    speed = 0.15  # all joints together: at half speed the box stops its tool (C60)

    @pytest.fixture
    def clock(self, clock):
        return clock

    @pytest.fixture(autouse=True)
    def _rig(self, arm, config, robot):
        self.arm, self.config, self.robot = arm, config, robot

    def make_follower(self, clock):
        return XArmFollower(self.config, self.robot, clock)

    def unplug(self, follower):  # noqa: ARG002 - as the suite calls it
        self.arm.do("cable")
