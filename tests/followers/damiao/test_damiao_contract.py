"""The contract of any follower, against the emulated arms in processes of their own."""

import numpy as np
import pytest

from paprle.followers.damiao.follower import DamiaoFollower
from paprle.testing.followers import FollowerContract

pytest.importorskip("can")

pytestmark = pytest.mark.process


class TestDamiaoFollower(FollowerContract):
    settle_time = 1.5

    @pytest.fixture
    def model(self):
        return "yam"

    @pytest.fixture(autouse=True)
    def _rig(self, arm, config, robot):
        self.arm, self.config, self.robot = arm, config, robot

    @pytest.fixture
    def clock(self, clock):
        return clock

    def make_follower(self, clock):
        return DamiaoFollower(self.config, self.robot, clock)

    def unplug(self, follower):  # noqa: ARG002 - as the suite calls it
        self.arm.do("cable")

    def test_opening_and_torque_do_not_move_the_arm_at_its_side(self, clock):
        follower = self.make_follower(clock)
        follower.open()
        q = follower.read().q
        for _ in range(40):
            follower.read()
            follower.write(q)
            clock.advance(0.005)

        record = self.arm.read()
        follower.close("off")

        n = self.arm.table.n
        assert record.statuses[-1] == "1" * (n + 1)
        assert np.abs(record.q - record.q[0])[:, :n].max() < 0.02
