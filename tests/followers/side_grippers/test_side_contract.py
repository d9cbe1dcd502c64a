"""The contract of any follower, for an arm of a bus with a gripper beside it."""

from __future__ import annotations

import pytest
from damiao_rig import EmulatedDamiao, RealClock, load_robot
from robotiq_hand import carry

from paprle.contracts.settings.robotiq import RobotiqSettings
from paprle.followers.damiao.config import DamiaoConfig
from paprle.followers.damiao.follower import DamiaoFollower
from paprle.testing.followers import FollowerContract
from paprle_emulators import start

pytest.importorskip("can")
pytest.importorskip("serial")
pytestmark = [pytest.mark.process, pytest.mark.nightly]


class TestYamWithRobotiq(FollowerContract):
    settle_time = 2.0

    @pytest.fixture(autouse=True)
    def _rig(self, tmp_path):
        self.arm = EmulatedDamiao(tmp_path, "yam")
        with start("robotiq", model="2f85", port=tmp_path / "hand") as hand:
            self.config = DamiaoConfig(
                model="yam",
                interface="emucan",
                channel=self.arm.channel,
                descent=0.1,
                robotiq=RobotiqSettings(model="2f85", port=hand.port, activates=True),
            )
            yield
        self.arm.end()

    @pytest.fixture
    def clock(self):
        return RealClock()

    def make_follower(self, clock):
        return DamiaoFollower(self.config, carry(load_robot("yam")), clock)

    def unplug(self, follower):  # noqa: ARG002 - as the suite calls it
        self.arm.do("cable")
