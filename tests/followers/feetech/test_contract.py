"""The contract of any follower, against an emulated SO-101."""

import pytest

from paprle.followers.feetech.follower import FeetechFollower
from paprle.testing.followers import FollowerContract

pytestmark = pytest.mark.process


class TestFeetechFollower(FollowerContract):
    settle_time = 1.0

    @pytest.fixture
    def clock(self, clock):
        return clock

    @pytest.fixture(autouse=True)
    def _rig(self, arm, config, robot):
        self.arm, self.config, self.robot = arm, config, robot

    def make_follower(self, clock):
        return FeetechFollower(self.config, self.robot, clock)

    def unplug(self, follower):  # noqa: ARG002 - as the suite calls it
        self.arm.unplug("follower")
