"""The contract of any follower, against an emulated arm in a process of its own."""

import pytest

from paprle.followers.franka.follower import FrankaFollower
from paprle.testing.followers import FollowerContract

pytestmark = [pytest.mark.process, pytest.mark.nightly]  # a session is in every run


class TestFrankaFollower(FollowerContract):
    settle_time = 3.0
    speed = 0.15  # the hand's fingers included, one motion of theirs after another

    @pytest.fixture
    def clock(self, clock):
        return clock

    @pytest.fixture(autouse=True)
    def _rig(self, arm, config, robot):
        self.arm, self.config, self.robot = arm, config, robot

    def make_follower(self, clock):
        return FrankaFollower(self.config, self.robot, clock)

    def unplug(self, follower):  # noqa: ARG002 - as the suite calls it
        self.arm.do("cable")
