"""The contract of any follower holds for an arm that came by an entry point."""

import pytest

from paprle.plugins import find_plugin, load_config_class, load_factory
from paprle.testing.followers import FollowerContract

pytestmark = pytest.mark.process


class TestSextantFollower(FollowerContract):
    settle_time = 1.0

    @pytest.fixture
    def clock(self, clock):
        return clock

    @pytest.fixture(autouse=True)
    def _rig(self, arm, robot):
        self.arm, self.robot = arm, robot

    def make_follower(self, clock):
        spec = find_plugin("follower", "sextant")
        config = load_config_class(spec)(host=self.arm.host)
        return load_factory(spec)(config, self.robot, clock)

    def unplug(self, follower):  # noqa: ARG002 - as the suite calls it
        self.arm.do("cable")
