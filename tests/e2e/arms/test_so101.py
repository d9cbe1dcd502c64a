"""Emulated SO-101 arms lead and follow, as typed; judged by what reached the servos."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import numpy as np
import pytest
from phones import TLS_ADDRESS
from played import make_pose_rows, write_csv
from running import RunningSession
from so101_arm import judge, load_robot, read_log

from paprle.ipc.process import WORKSPACE
from paprle_emulators import start

pytest.importorskip("scservo_sdk")

pytestmark = [pytest.mark.process, pytest.mark.timed, pytest.mark.timeout(240)]
MINUTES = 10.0  # asked for
BUSY = "gate.state_latch_after=1.0"  # a busy machine brings states late
LED = "grasp_all:30,sines:5,end:40"
OTHERS = {
    "ur5e": ("kinematic", None),
    "papras_7dof": ("mujoco", None),
    "piper": ("can", "piper"),
}


@pytest.fixture(autouse=True)
def runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # no other rig's notices


def run(tmp_path, *words, timeout=200.0):
    command = [sys.executable, "run.py", *words, "session.episodes=1", BUSY]
    done = subprocess.run(
        [*command, f"record.dir={tmp_path / 'out'}"],
        cwd=WORKSPACE,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kept 1" in done.stdout
    return done.stdout


def check_servos(log):
    """Judge what reached the servos; return it."""
    record = read_log(log)
    assert np.ptp(record.goals[:, :4], axis=0).min() > 0.05, "the arm moved"
    verdict = judge(record.goals, load_robot("so101"))
    assert verdict.is_ok, str(verdict)
    return record


def lead(tmp_path, motion, timeout=200.0):
    """Lead one arm by another; return what was said and what reached the servos."""
    log = tmp_path / "arm.log"
    with (
        start("so101", log=log) as arm,
        start("so101-leader", motion=motion) as hand,
    ):
        words = ["leader=so101", *hand.overrides, "follower=so101", "env=feetech"]
        said = run(tmp_path, *words, *arm.overrides, timeout=timeout)
    assert "joint by joint" in said
    return said, check_servos(log)


def test_a_leader_drives_a_follower_within_its_limits(tmp_path):
    lead(tmp_path, "grasp_all:16,sines:5,end:20")


@pytest.mark.nightly
@pytest.mark.timeout(1200)
def test_ten_minutes_of_leading_end_as_they_began(tmp_path):
    said, record = lead(
        tmp_path, f"grasp_all:30,sines:{60 * MINUTES:g},end:40", timeout=1000.0
    )

    seconds = 1e-9 * np.ptp(record.goals_ns)
    assert seconds > 60.0 * MINUTES
    assert len(record.goals) > 0.99 * 200.0 * seconds, said


@pytest.mark.nightly
@pytest.mark.parametrize("follower", OTHERS)
def test_a_leader_drives_other_arms_by_pose(follower, tmp_path):
    env, device = OTHERS[follower]
    with ExitStack() as stack:
        hand = stack.enter_context(start("so101-leader", motion=LED))
        words = ["leader=so101", *hand.overrides, f"follower={follower}", f"env={env}"]
        if device is not None:
            words += stack.enter_context(start(device)).overrides
        said = run(tmp_path, *words)

    assert "arm drives arm, relative" in said


@pytest.mark.nightly
@pytest.mark.parametrize("leader", ["offline", "puppeteer"])
def test_other_leaders_drive_the_arm_within_its_limits(leader, tmp_path):
    log = tmp_path / "arm.log"
    with ExitStack() as stack:
        if leader == "offline":
            t = np.arange(0.0, 8.0, 0.02)
            rows = make_pose_rows(t)
            rows[:, 1:3] = 0.03 * np.sin([t, 0.7 * t]).T  # as far as five joints reach
            path = write_csv(tmp_path / "hand.csv", "t,x,y,z,qx,qy,qz,qw", rows)
            words = ["leader=offline", f"leader.path={path}", "leader.frame=relative"]
        else:
            hand = start("dynamixel", leader="puppeteer_piper", motion=LED)
            words = ["leader=puppeteer_piper", *stack.enter_context(hand).overrides]
        arm = stack.enter_context(start("so101", log=log))
        run(tmp_path, *words, "follower=so101", "env=feetech", *arm.overrides)

    check_servos(log)


@pytest.mark.nightly
def test_a_phone_drives_the_arm_within_its_limits(tmp_path):
    log = tmp_path / "arm.log"
    page = ["leader=arpose", f"leader.listen={TLS_ADDRESS}", "leader.port=8519"]
    page += [f"leader.certificate={tmp_path}"]
    with start("so101", log=log) as arm:
        words = [*page, "follower=so101", "env=feetech", *arm.overrides, BUSY]
        session = RunningSession(words, tmp_path / "out")
        try:
            session.wait_for("#", 60.0)
            address = re.search(r"https://\S+#\S+", session.text()).group()
            with start("phone", page=address, seconds=60):
                session.wait_for("ENGAGED", 60.0)
                time.sleep(10.0)
                session.kill("session", signal.SIGINT)
                session.wait_gone()
        finally:
            session.end()

    check_servos(log)
