"""A Vision Pro as a leader: gRPC between, its contract, and what must let go."""

from __future__ import annotations

import time

import numpy as np
import pytest
from phones import wait_until

from paprle.contracts.errors import DeviceError
from paprle.leaders.visionpro.config import VisionproConfig
from paprle.leaders.visionpro.leader import Visionpro
from paprle.testing import LeaderContract, ManualClock
from paprle_emulators.visionpro.headset import EmulatedVisionPro


class TestVisionpro(LeaderContract):
    @pytest.fixture(autouse=True)
    def _wear(self):
        self.headset = EmulatedVisionPro()
        yield
        self.headset.close()

    def make_leader(self, clock):
        config = VisionproConfig(
            host="127.0.0.1", port=self.headset.port, hands=("left", "right")
        )
        return Visionpro(config, clock)

    def stimulate(self, leader, clock):  # noqa: ARG002
        device = leader._headset.device
        n = device.n_messages
        wait_until(lambda: device.n_messages > n)

    def unplug(self, leader):
        self.headset.close()
        wait_until(lambda: not leader._headset.device.state.is_tracked)


@pytest.fixture
def headset():
    made = EmulatedVisionPro()
    yield made
    made.close()


@pytest.fixture
def leader(headset):
    config = VisionproConfig(host="127.0.0.1", port=headset.port)
    made = Visionpro(config, time.monotonic_ns)
    made.open()
    yield made
    made.close()


def hold(leader, headset):
    headset.grips = True
    wait_until(lambda: (s := leader.latest()) is not None and s.engaged)


def read(leader):
    return leader.latest().limbs["right"]


def test_a_hand_that_grips_moves_the_eef_in_rep103_axes(leader, headset):
    hold(leader, headset)
    before = read(leader).T_leader_base_leader_eef.translation
    headset.p = headset.p + [0.02, 0.03, -0.01]  # right, up, away

    moved = lambda: read(leader).T_leader_base_leader_eef.translation - before  # noqa: E731
    wait_until(lambda: np.allclose(moved(), [0.01, -0.02, 0.03], atol=1e-4))


def test_thumb_and_index_open_the_gripper(leader, headset):
    hold(leader, headset)
    headset.pinch = 0.015

    wait_until(lambda: read(leader).opening < 1e-3)


def freeze(headset):
    headset.is_frozen = True


def open_hand(headset):
    headset.grips = False


def leap(headset):
    headset.p = headset.p + [1.0, 0.0, 0.0]


def near_head(headset):
    headset.p = np.array([0.0, 1.55, 0.0])


def spoil(value):
    def cause(headset):
        def change(update):
            update.right.wrist[0, 0] = value
            return update

        headset.spoil = change

    return cause


def forget(headset):
    headset.spoil = lambda update: type(update)()


@pytest.mark.parametrize(
    "cause",
    [freeze, open_hand, leap, near_head, spoil(float("nan")), spoil(7.0), forget],
    ids=["frozen", "open", "leap", "head", "nan", "no rotation", "empty"],
)
def test_each_cause_lets_go_of_the_arm(leader, headset, cause):
    hold(leader, headset)
    cause(headset)

    wait_until(lambda: not (leader.latest().engaged and leader.latest().valid))


def test_a_silent_headset_goes_stale(leader, headset):
    hold(leader, headset)
    headset.is_silent = True
    time.sleep(0.2)

    assert time.monotonic_ns() - leader.latest().stamp_ns > 0.1e9


def test_a_returned_headset_drives_on(headset, leader):
    hold(leader, headset)
    headset.close()
    told = []
    wait_until(lambda: told.extend(leader.take_warnings()) or told)
    assert "headset" in told[0]
    again = EmulatedVisionPro(headset.port)
    again.grips = False
    wait_until(lambda: leader.latest().valid, 10.0)
    hold(leader, again)
    again.close()


def test_an_absent_headset_is_reported_with_a_remedy():
    config = VisionproConfig(host="127.0.0.1", port=9, timeout=0.2)

    with pytest.raises(DeviceError, match="press Start in it"):
        Visionpro(config, ManualClock()).open()
