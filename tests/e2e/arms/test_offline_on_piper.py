"""A recorded human hand drives the PiPER, end to end (acceptance 1)."""

from __future__ import annotations

import json

import pytest
from product import MOTION, cut_motion, measure, need_motion, run_live, run_virtual

TRIPLE = ("leader=offline", "follower=piper")


@pytest.mark.nightly
def test_every_row_is_followed_exactly_by_an_ideal_robot(tmp_path):
    out = tmp_path / "out"

    entry = run_virtual(out, *TRIPLE, f"leader.path={need_motion()}", "env=kinematic")

    assert entry["end_reason"] == "end signal"
    assert entry["ate_mm"]["lag_compensated"]["median"] < 0.05
    assert entry["ate_mm"]["raw"]["median"] < 0.6
    assert entry["gate"]["violations"] == 0


def test_own_motion_is_followed_exactly_by_an_ideal_robot(tmp_path, own_motion):
    entry = run_virtual(
        tmp_path / "out", *TRIPLE, f"leader.path={own_motion}", "env=kinematic"
    )

    assert entry["ate_mm"]["lag_compensated"]["median"] < 0.05
    assert entry["gate"]["violations"] == 0


@pytest.mark.sim
def test_own_motion_is_followed_by_a_simulated_robot(tmp_path, own_motion):
    entry = run_virtual(
        tmp_path / "out", *TRIPLE, f"leader.path={own_motion}", "env=mujoco"
    )

    assert entry["ate_mm"]["lag_compensated"]["median"] < 0.3
    assert entry["ate_mm"]["raw"]["median"] <= 0.6
    assert entry["lag_ms"] <= 25
    assert entry["gate"]["violations"] == 0


@pytest.mark.sim
@pytest.mark.process
@pytest.mark.timed
@pytest.mark.nightly
def test_live_run_ends_by_itself_and_evaluate_reports(tmp_path, own_motion):
    """Faster than any hand; measured 1.05 mm and 26 ms (recorded), bounds doubled."""
    path, speed = own_motion, 2
    if MOTION.is_file():
        path, speed = cut_motion(tmp_path / "part.csv", 0.0, 30.0), 5
    out = tmp_path / "out"

    done = run_live(
        *TRIPLE, f"leader.path={path}", f"leader.speed={speed}", "env=mujoco",
        f"record.dir={out}",
    )  # fmt: skip
    told = run_live("--json", str(out / "episode_000000.mcap"), verb="evaluate")

    assert done.returncode == 0, done.stdout + done.stderr
    assert told.returncode == 0, told.stderr
    assert (out / "episode_000000.report.html").is_file()
    (entry,) = json.loads(told.stdout)
    assert entry == measure(out)
    assert entry["end_reason"] == "end signal"
    assert entry["gate"]["violations"] == 0
    assert entry["ate_mm"]["lag_compensated"]["median"] < 2.5
    assert entry["lag_ms"] < 60


@pytest.mark.nightly
@pytest.mark.sim
@pytest.mark.process
@pytest.mark.timed
@pytest.mark.parametrize("env", ["mujoco", "kinematic"])
def test_live_run_at_the_hand_s_own_speed(tmp_path, env):
    """The figures of the issue; on a machine with nothing else to do."""
    done = run_live(
        *TRIPLE, f"leader.path={need_motion()}", f"env={env}", f"record.dir={tmp_path}"
    )

    assert done.returncode == 0, done.stdout + done.stderr
    entry = measure(tmp_path)
    assert entry["gate"]["violations"] == 0
    assert entry["tick"]["on_time_percent"] >= 99
    bound = 0.3 if env == "mujoco" else 0.05
    assert entry["ate_mm"]["lag_compensated"]["median"] < bound
    assert entry["ate_mm"]["raw"]["median"] <= 0.6
    assert entry["lag_ms"] <= 25
