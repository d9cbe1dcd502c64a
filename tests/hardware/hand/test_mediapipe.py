"""The tracker itself: MediaPipe on drawn hands, and a RealSense that is unplugged.

They need the tracker's environment: PAPRLE_TRACKER_PYTHON=~/hand/bin/python.
"""

import contextlib
import json
import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from paprle.hardware.hand.tracker_process import TrackerProcess, TrackerSettings

ROOT = Path(__file__).resolve().parents[3]
PYTHON = os.environ.get("PAPRLE_TRACKER_PYTHON", "")
PATIENCE = 60.0  # [s] chosen: MediaPipe's start, and discovery, on a busy machine
DOMAIN = 77

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.process,
    pytest.mark.skipif(not PYTHON, reason="no PAPRLE_TRACKER_PYTHON"),
]


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


class Camera:
    """An emulated RealSense in a process of its own."""

    domain = DOMAIN

    def __init__(self):
        self.process = subprocess.Popen(
            [PYTHON, "-m", "paprle_emulators.hand", f"domain={DOMAIN}"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.process.stdout.readline()

    def tell(self, cmd, **what):
        self.process.stdin.write(json.dumps({"cmd": cmd, **what}) + "\n")
        self.process.stdin.flush()
        assert json.loads(self.process.stdout.readline())["ok"]

    def close(self):
        self.process.terminate()
        self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def camera(monkeypatch):
    monkeypatch.setenv("FASTDDS_BUILTIN_TRANSPORTS", "SHM")
    camera = Camera()
    yield camera
    camera.close()


@pytest.fixture
def process(camera):
    settings = TrackerSettings(python=PYTHON, domain=camera.domain)
    process = TrackerProcess(settings, time.monotonic_ns)
    process.open()
    yield process
    process.close()


def find_hand(process):
    return process.newest.find("right")


@pytest.mark.timeout(300)
def test_a_hand_before_an_emulated_realsense_is_found_where_it_is(camera, process):
    camera.tell("at", p=[0.05, 0.02, 0.6])

    wait_for(lambda: (hand := find_hand(process)) and abs(hand.depth[9] - 0.6) < 0.01)

    hand = find_hand(process)
    p = (hand.uv[9] - process.newest.centre) / process.newest.focal * hand.depth[9]
    assert p == pytest.approx([0.05, 0.02], abs=0.01)
    assert np.isfinite(hand.depth[[0, 5, 9]]).all()


@pytest.mark.timeout(300)
def test_an_emulated_realsense_unplugged_is_told_and_comes_back(camera, process):
    wait_for(lambda: find_hand(process))

    camera.tell("unplug")
    wait_for(lambda: process.fault)
    seq = process.newest.seq
    assert "realsense" in process.fault
    camera.tell("replug")
    wait_for(lambda: process.newest.seq > seq + 5 and find_hand(process))

    assert process.fault == ""
