"""An emulated SO-101 leads another: as typed, judged by what reached the servos."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from so101_arm import judge, load_robot, read_log

from paprle.ipc.process import WORKSPACE
from paprle_emulators import start

pytest.importorskip("scservo_sdk")

pytestmark = [pytest.mark.process, pytest.mark.timed, pytest.mark.timeout(240)]


def test_a_leader_drives_a_follower_within_its_limits(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # no other rig's notices
    log = tmp_path / "arm.log"
    with (
        start("so101", log=log) as arm,
        start("so101-leader", motion="grasp_all:30,sines:5,end:40") as hand,
    ):
        words = [
            "leader=so101",
            *hand.endpoint["overrides"],
            "follower=so101",
            "env=feetech",
            *arm.endpoint["overrides"],
            "gate.accept_unattended=true",
            "gate.state_latch_after=1.0",  # a busy machine brings states late
            "session.episodes=1",
            f"record.dir={tmp_path / 'out'}",
        ]
        done = subprocess.run(
            [sys.executable, "run.py", *words],
            cwd=WORKSPACE,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "joint by joint" in done.stdout
    goals = read_log(log).goals
    assert np.ptp(goals[:, :4], axis=0).min() > 0.15, "the arm moved"
    verdict = judge(goals, load_robot("so101"))
    assert verdict.is_ok, str(verdict)
