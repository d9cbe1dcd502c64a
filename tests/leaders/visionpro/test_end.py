"""A Vision Pro's episode is ended by hand: pinches, and never while a hand drives."""

from __future__ import annotations

import time

import pytest
from phones import wait_until

from paprle.leaders.visionpro.config import VisionproConfig
from paprle.leaders.visionpro.leader import Visionpro
from paprle_emulators.visionpro.headset import EmulatedVisionPro


@pytest.fixture
def headset():
    made = EmulatedVisionPro()
    yield made
    made.close()


@pytest.fixture(params=[("right",), ("left", "right")], ids=["one hand", "two"])
def leader(headset, request):
    config = VisionproConfig(host="127.0.0.1", port=headset.port, hands=request.param)
    made = Visionpro(config, time.monotonic_ns)
    made.open()
    wait_until(lambda: made.latest() is not None and made.latest().valid)
    yield made
    made.close()


@pytest.mark.timed  # 3 s of a person's time: a pinch unseen for 0.2 s begins anew
def test_pinches_of_all_hands_for_three_seconds_end_the_episode(leader, headset):
    began, headset.pinch = time.monotonic(), 0.01
    wait_until(lambda: leader.latest().end, 10.0)
    assert time.monotonic() - began >= 3.0
    assert not leader.latest().engaged

    headset.pinch = 0.1
    wait_until(lambda: not leader.latest().end)


@pytest.mark.nightly
@pytest.mark.timed
def test_a_gripper_that_is_closed_while_driving_ends_nothing(leader, headset):
    headset.grips, headset.pinch = True, 0.01
    wait_until(lambda: leader.latest().engaged)
    for grips in (True, False):
        headset.grips = grips
        end = time.monotonic() + 3.5
        while time.monotonic() < end:
            assert not leader.latest().end
            time.sleep(0.01)
