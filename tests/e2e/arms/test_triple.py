"""The main command as it is typed, beside its emulators."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import numpy as np
import pytest
from ros_rig import need_dds

from paprle.ipc.process import WORKSPACE
from paprle.recording.reader import Episode

pytest.importorskip("dynamixel_sdk")
pytestmark = [pytest.mark.process, pytest.mark.timeout(180)]


def test_puppeteer_piper_and_ros2_run_as_typed(tmp_path):
    need_dds()
    hand = ["dynamixel", "leader=puppeteer_piper", "motion=grasp_all:20,sines:6,end:30"]
    log = tmp_path / "robot.jsonl"
    robot = ["ros", "robot=piper", f"log={log}"]
    triple = ["leader=puppeteer", "follower=piper", "env=ros2"]
    command = [sys.executable, "demos/with_emulators.py", *hand, "+", *robot, "--"]

    session = [*command, *triple, "session.episodes=1", f"record.dir={tmp_path}"]
    with subprocess.Popen(
        session,
        cwd=WORKSPACE,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as running:
        watchdog = threading.Timer(160, running.terminate)  # its emulators end with it
        watchdog.start()
        said = running.communicate()[0]
        watchdog.cancel()

    assert running.returncode == 0, said
    assert "EMULATED: " in said
    assert "keep a hand on its hardware stop" in said
    episode = Episode.open(next(tmp_path.glob("*.mcap")))
    assert np.ptp(episode.gate["q_meas"][:, :6], axis=0).max() > 0.1
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert sum(entry["kind"] == "command" for entry in entries) > 500
