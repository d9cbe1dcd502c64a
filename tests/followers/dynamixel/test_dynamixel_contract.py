"""The contract of any follower, against an emulated OpenMANIPULATOR-X."""

import pytest

from paprle.followers.dynamixel.follower import DynamixelFollower
from paprle.testing.followers import FollowerContract

pytestmark = [pytest.mark.process, pytest.mark.timed]


class TestDynamixelFollower(FollowerContract):
    settle_time = 1.0
    tolerance = 0.1  # [rad] its weight

    @pytest.fixture
    def clock(self, clock):
        return clock

    @pytest.fixture(autouse=True)
    def _rig(self, arm, config, robot):
        self.arm, self.config, self.robot = arm, config, robot

    def make_follower(self, clock):
        return DynamixelFollower(self.config, self.robot, clock)

    def unplug(self, follower):  # noqa: ARG002 - as the suite calls it
        self.arm.unplug("follower")
