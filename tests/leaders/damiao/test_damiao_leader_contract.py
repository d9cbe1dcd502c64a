"""The contract of any leader, against the emulated arms in processes of their own."""

import pytest

from paprle.leaders.damiao.leader import DamiaoLeader
from paprle.testing.leaders import LeaderContract

pytest.importorskip("can")

pytestmark = pytest.mark.process


@pytest.mark.parametrize("model", ["openarm", "yam"])
class TestDamiaoLeader(LeaderContract):
    @pytest.fixture(autouse=True)
    def _rig(self, arm, config):
        self.arm, self.config = arm, config

    @pytest.fixture
    def clock(self, clock):
        return clock

    def make_leader(self, clock):
        return DamiaoLeader(self.config, clock)

    def unplug(self, leader):  # noqa: ARG002 - as the suite calls it
        self.arm.do("cable")
