"""``paprle so101`` as somebody types it who has no arm yet."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from paprle.ipc.process import WORKSPACE

pytest.importorskip("scservo_sdk")
pytest.importorskip("mujoco")
pytest.importorskip("viser")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = [pytest.mark.process, pytest.mark.sim]

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")
QUIET = ("session.clock=virtual", "session.status=false", "observers.view=null")
DRAWS = "3\n\nn\nwave\n"  # a simulated arm, no camera, no phone, the task


# a shell's background job ignores Ctrl-C, and so would its children
TYPED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from paprle.cli import main
sys.exit(main())
"""


def begin(folder, *words):
    return subprocess.Popen(
        [sys.executable, "-c", TYPED, "so101", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(WORKSPACE)},
    )


def test_a_simulation_that_is_called_one_ends_with_a_data_set(tmp_path):
    process = begin(tmp_path, "--episodes", "1", *QUIET)
    told, _ = process.communicate(DRAWS, timeout=110)

    assert process.returncode == 0, told
    assert "SIMULATION: no arm follows, a model does." in told
    assert "paprle run leader=autopilot follower=so101 env=mujoco" in told
    assert [path.name for path in tmp_path.iterdir()] == ["so101"]
    root = tmp_path / "so101/dataset"
    info = json.loads((root / "meta/info.json").read_text())
    names = [f"{joint}.pos" for joint in (*JOINTS, "gripper")]
    assert info["features"]["action"]["names"] == names
    assert info["features"]["observation.state"]["names"] == names
    rows = pq.read_table(next(root.rglob("data/**/*.parquet"))).to_pylist()
    action = np.array([row["action"] for row in rows])
    assert info["total_episodes"] == 1
    assert len(rows) == info["total_frames"] > 30
    assert 10.0 < np.abs(action[:, :5]).max() < 180.0, "degrees"
    assert (action[:, 5] >= -1e-3).all()
    assert (action[:, 5] <= 100.0 + 1e-3).all()


def test_ctrl_c_at_a_question_leaves_nothing_behind(tmp_path):
    process = begin(tmp_path)
    told = ""
    end = time.monotonic() + 90.0
    while "No arm was found" not in told:
        assert time.monotonic() < end, told
        told += process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)

    assert process.returncode == 130
    assert not list(tmp_path.iterdir())


def test_the_end_of_the_input_leaves(tmp_path):
    process = begin(tmp_path)
    told, _ = process.communicate("", timeout=110)

    assert process.returncode == 1
    assert "you left; no arm was moved" in told
    assert not list(tmp_path.iterdir())
