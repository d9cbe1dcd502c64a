"""Sessions with emulated UR arms, as typed; judged by what reached the controller."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from played import POSE, write_csv
from robotiq_hand import check_hand, read_events
from ur_rig import QUANTUM, EmulatedUr, load
from worlds import Arrived, judge_arrived

from paprle.ipc.process import WORKSPACE
from paprle_emulators import start

pytest.importorskip("rtde_control")

pytestmark = [pytest.mark.process, pytest.mark.timed, pytest.mark.timeout(240)]
RATE, SLOW = 500.0, 200.0  # [Hz]
MINUTE = 60.0  # asked for
AUTOPILOT = ("leader=autopilot", "leader.size=0.1", "leader.speed=0.25")
SLOWLY = ("leader=autopilot", "leader.size=0.1", "leader.speed=0.08")


@pytest.fixture(autouse=True)
def runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # no other rig's notices


def run(tmp_path, model, *words, hand="none"):
    """Run a session with an arm of a model; return what its controller noted."""
    with EmulatedUr(tmp_path, model=model, gripper=hand) as arm:
        command = [sys.executable, "run.py", f"follower={model}", "env=ur", *words]
        command += [f"env.host={arm.host}", "session.episodes=1"]
        done = subprocess.run(
            [*command, f"record.dir={tmp_path / 'out'}"],
            cwd=WORKSPACE,
            capture_output=True,
            text=True,
            timeout=200.0,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kept 1" in done.stdout
    return arm.read()


def check(record, model, rate=RATE):
    """Judge every goal; that all came in time, and that the program ended well."""
    robot = load(model)
    arrived = Arrived("servoj", [*range(6)], record.stamps, record.goals, QUANTUM)
    verdicts = judge_arrived(arrived, robot, 1.0 / rate)
    assert all(v.is_ok for v in verdicts), [str(v) for v in verdicts]
    assert np.ptp(record.q, axis=0).max() > 0.05, "the arm moved"
    assert np.abs(record.dq).max() <= robot.dq_max.max()
    texts = [text for _, text in record.events]
    assert texts.count("program started") == 1
    assert "program ended: stopped by its client" in texts
    assert set(record.modes[:, 1]) == {1}, "no stop of any kind"


def test_an_autopilot_drives_an_arm(tmp_path):
    record = run(tmp_path, "ur5e", *AUTOPILOT, "leader.laps=2")

    check(record, "ur5e")


@pytest.mark.nightly
@pytest.mark.parametrize("line", ["urcap", "serial"])
def test_an_autopilot_drives_an_arm_and_its_gripper(tmp_path, line):
    words = [*SLOWLY, "leader.laps=2", "leader.gripper=true", "follower=ur5e_2f85"]
    words += ["env.robotiq.activates=true", f"env.rate={SLOW}"]
    if line == "urcap":
        record = run(tmp_path, "ur5e", *words, hand="2f85")
        events = record.events
    else:
        pytest.importorskip("serial")
        log, port = tmp_path / "hand.log", tmp_path / "hand"
        with start("robotiq", model="2f85", log=log, port=port):
            record = run(tmp_path, "ur5e", *words, f"env.robotiq.port={port}")
        events = read_events(log)

    check(record, "ur5e_2f85", SLOW)
    check_hand(events, load("ur5e_2f85").dq_max[6])


@pytest.mark.nightly
@pytest.mark.parametrize("model", ["ur3e", "ur5e", "ur10e", "ur16e", "ur20", "ur30"])
def test_each_model_is_driven_for_a_minute(tmp_path, model):
    record = run(tmp_path, model, *AUTOPILOT, "leader.laps=48")

    check(record, model)
    moving = np.abs(record.dq).max(axis=1) > 1e-3
    assert moving.mean() * (record.state_stamps[-1] - record.state_stamps[0]) > 5e10
    late = np.diff(record.stamps) > 25e6
    assert late.mean() < 1e-3


@pytest.mark.nightly
def test_a_recorded_hand_drives_it_for_a_minute(tmp_path):
    t = np.arange(0.0, MINUTE, 0.02)
    rows = np.zeros((len(t), 8))
    rows[:, 0], rows[:, 7] = t, 1.0
    rows[:, 1] = 0.08 * np.sin(0.9 * t)
    rows[:, 2] = 0.06 * np.sin(1.7 * t) ** 2
    rows[:, 3] = 0.05 * np.sin(2.3 * t)
    path = write_csv(tmp_path / "hand.csv", POSE, rows)
    record = run(tmp_path, "ur5e", "leader=offline", f"leader.path={path}")

    check(record, "ur5e")
