"""A session with the emulated arm and a Robotiq on a serial line, as typed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from franka_rig import judge_motion, running_franka
from piper_rig import load
from robotiq_hand import check_hand, read_events

from paprle.ipc.process import WORKSPACE
from paprle_emulators import start
from paprle_emulators.franka.protocol import Mode

pytest.importorskip("pylibfranka")
pytest.importorskip("serial")
pytestmark = [
    pytest.mark.process,
    pytest.mark.timed,
    pytest.mark.nightly,
    pytest.mark.timeout(240),
]

ROBOT = "fr3_2f85"
FINGER = 7
WORDS = (
    f"follower={ROBOT}",
    "env=franka",
    "env.robotiq.activates=true",
    "leader=autopilot",
    "leader.size=0.1",
    "leader.speed=0.08",
    "leader.laps=2",
    "leader.gripper=true",
    "session.episodes=1",
)


def test_an_autopilot_drives_the_arm_and_its_gripper(tmp_path):
    log, port = tmp_path / "hand.log", tmp_path / "hand"
    with (
        start("robotiq", model="2f85", log=log, port=port),
        running_franka(tmp_path, ideal=True) as arm,
    ):
        done = subprocess.run(
            [
                *(sys.executable, "run.py", *WORDS),
                f"env.host={arm.host}",
                f"env.robotiq.port={port}",
                f"record.dir={tmp_path / 'out'}",
            ],
            cwd=WORKSPACE,
            capture_output=True,
            text=True,
            timeout=200.0,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kept 1" in done.stdout

    record = arm.read()
    verdict = judge_motion(record)
    assert verdict.is_ok, verdict
    assert np.ptp(record.q, axis=0).max() > 0.05, "the arm moved"
    assert (record.flags[:, 3] == -1).all(), "no error"
    assert record.flags[-1, 1] == Mode.IDLE, "it ended in order"
    check_hand(read_events(log), load(ROBOT).dq_max[FINGER])
