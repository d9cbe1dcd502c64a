"""A serial adapter between the follower and the emulated arm."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from piper_rig import RealClock

from paprle.followers.piper.config import PiperConfig
from paprle.followers.piper.follower import PiperFollower

pytest.importorskip("piper_sdk")
pytest.importorskip("serial")

from slcan_bridge import SlcanBridge

pytestmark = [pytest.mark.process, pytest.mark.nightly]


@pytest.fixture
def busy():
    """Keep the computer busy: a process more than it has cores."""
    spin = [sys.executable, "-c", "while True: pass"]
    spinning = [subprocess.Popen(spin) for _ in range((os.cpu_count() or 1) + 1)]
    yield
    for process in spinning:
        process.kill()
        process.wait()


@pytest.mark.usefixtures("busy")
def test_an_arm_behind_a_serial_adapter_opens_on_a_busy_computer(arm, robot):
    with SlcanBridge(arm.channel) as bridge:
        config = PiperConfig(interface="slcan", channel=bridge.port)
        follower = PiperFollower(config, robot, RealClock())

        follower.open()

        assert not follower.read().stop_reason
        follower.close("hold")


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
            follower.read()
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
