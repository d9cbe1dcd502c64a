"""An emulated SO-101 leads another: as typed, judged by what reached the servos."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from so101_arm import load_robot

from paprle.ipc.process import WORKSPACE
from paprle.oracle import Limits, check_commands
from paprle_emulators import start

pytest.importorskip("scservo_sdk")

pytestmark = [pytest.mark.process, pytest.mark.timed, pytest.mark.timeout(240)]
UNIT = 2.0 * math.pi / 4096
RATE = 200.0


def read_goals(path):
    """Goals in the order in which they reached the servos, shape (t, 6), [counts]."""
    rows = {}
    for line in path.read_text().splitlines():
        for goal in json.loads(line).get("goals", ()):
            rows.setdefault(goal["t"], {})[goal["joint"]] = goal["goal"]
    names = load_robot("so101").joint_names
    whole = [row for _, row in sorted(rows.items()) if set(row) == set(names)]
    return np.array([[row[name] for name in names] for row in whole])


def judge(goals):
    """The oracle's verdict on the five joints, whole counts in place of commands."""
    robot, h = load_robot("so101"), 1.0 / RATE
    limits = Limits(
        q_min=robot.q_min[:5] - UNIT,
        q_max=robot.q_max[:5] + UNIT,
        dq_max=robot.dq_max[:5] + UNIT / h,
        ddq_max=robot.ddq_max[:5] + 2.0 * UNIT / h**2,
        dddq_max=robot.dddq_max[:5] + 4.0 * UNIT / h**3,
        h=h,
        joint_names=robot.joint_names[:5],
    )
    commands = (goals[:, :5] - 2047.5) * UNIT
    return check_commands(commands[2:], limits, q_start=commands[:2])


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
    goals = read_goals(log)
    assert np.ptp(goals[:, :4], axis=0).min() > 100, "the arm moved"
    verdict = judge(goals)
    assert verdict.is_ok, str(verdict)
