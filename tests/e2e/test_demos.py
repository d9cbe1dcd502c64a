"""An emulated hand drives robots in every world, by the command of the demos."""

from __future__ import annotations

import subprocess
import sys

import pytest
from product import measure

from paprle.process import WORKSPACE

pytestmark = [pytest.mark.process, pytest.mark.nightly]
HAND = ["dynamixel", "leader=puppeteer_piper", "motion=grasp_all:30,sines:10,end:30"]
WORLDS = {
    "mujoco": ([], []),
    "ros2": (["+", "ros", "robot=piper", "transport=dds", "interface=loopback"], []),
    "can": (["+", "piper"], ["gate.accept_unattended=true"]),
}


@pytest.mark.parametrize("world", WORLDS)
def test_a_hand_starts_drives_and_ends_an_episode(tmp_path, world):
    emulator, settings = WORLDS[world]
    session = ["leader=puppeteer", "follower=piper", f"env={world}", *settings]
    session += ["session.episodes=1", f"record.dir={tmp_path / 'OUT'}"]

    done = subprocess.run(
        [sys.executable, "demos/with_emulators.py", *HAND, *emulator, "--", *session],
        cwd=WORKSPACE, capture_output=True, text=True, timeout=110, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    entry = measure(tmp_path / "OUT")
    assert entry["end_reason"] == "end signal"
    assert entry["gate"]["violations"] == 0
    assert entry["ate_mm"]["lag_compensated"]["median"] < 1.0
