"""The contract of any follower, against the emulated arm in a process of its own."""

import pytest
from piper_rig import RealClock

from paprle.followers.piper.follower import PiperFollower
from paprle.testing.followers import FollowerContract

pytest.importorskip("piper_sdk")

pytestmark = pytest.mark.process


class TestPiperFollower(FollowerContract):
    settle_time = 1.0

    @pytest.fixture
    def clock(self):
        return RealClock()

    @pytest.fixture(autouse=True)
    def _rig(self, arm, config, robot):
        self.arm, self.config, self.robot = arm, config, robot

    def make_follower(self, clock):
        return PiperFollower(self.config, self.robot, clock)

    def unplug(self, follower):  # noqa: ARG002 - as the suite calls it
        self.arm.do("silence")
