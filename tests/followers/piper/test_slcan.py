"""A serial adapter between the follower and the emulated arm."""

import threading
import time

import numpy as np
import pytest
from piper_rig import RealClock

from followers.piper.config import PiperConfig
from followers.piper.follower import PiperFollower

pytest.importorskip("piper_sdk")
pytest.importorskip("serial")

from slcan_bridge import SlcanBridge

pytestmark = [pytest.mark.process, pytest.mark.nightly]


def test_a_serial_adapter_drives_the_arm_and_makes_nobody_wait(arm, robot):
    before = threading.active_count()
    with SlcanBridge(arm.channel) as bridge:
        config = PiperConfig(interface="slcan", channel=bridge.port)
        follower = PiperFollower(config, robot, RealClock())
        follower.open()  # python-can waits 2 s for each of the SDK's two ports
        q = follower.read().q.copy()
        goal = q + np.array([0.1, 0.1, -0.1, 0.1, 0.1, 0.1, 0.005])
        slowest = 0.0
        for k in range(200):
            begin = time.perf_counter()
            follower.write(q + (goal - q) * min(1.0, k / 100))
            slowest = max(slowest, time.perf_counter() - begin)
            time.sleep(0.005)
        state = follower.read()
        follower.close("hold")

    assert not state.stop_reason
    assert np.abs(state.q - goal).max() < 2e-3
    assert time.monotonic_ns() - state.stamp_ns < 5e9
    assert slowest < 0.1
    assert len(arm.read().stamps) > 150
    assert threading.active_count() == before
