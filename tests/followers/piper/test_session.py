"""Sessions with the emulated arm, as a user types them; judged at the arm's side."""

from __future__ import annotations

import time

import numpy as np
import pytest
from piper_rig import EmulatedPiper, count_commands, find_rest_ns, judge
from running import RunningSession

pytest.importorskip("piper_sdk")
pytestmark = [pytest.mark.process, pytest.mark.timed]

MOTION = (
    "leader=autopilot",
    "leader.size=0.1",
    "leader.speed=0.25",
    "leader.laps=100",
    "session.episodes=1",
)
SETTLED = 0.25  # [s] five lags of the servo, and a shared machine


@pytest.fixture
def arm(tmp_path):
    arm = EmulatedPiper(tmp_path)
    yield arm
    arm.end()


@pytest.fixture
def start(tmp_path, arm):
    sessions = []

    def start_one(*args):
        session = RunningSession([*arm.args, *args], tmp_path / "rec")
        sessions.append(session)
        return session

    yield start_one
    for session in sessions:
        session.end()


def drive(start, *args):
    """A session that moves, for a while."""
    session = start(*MOTION, *args)
    session.wait_for("ENGAGED")
    session.find_pids()
    time.sleep(0.7)
    return session


def check_at_rest(arm, at_ns, bound=SETTLED):
    record = arm.read()
    rest = (find_rest_ns(record, at_ns) - at_ns) * 1e-9
    assert rest < bound, f"rest after {rest:.3f} s"
    return record


def test_a_killed_gate_leaves_the_arm_at_its_last_target(start, arm):
    session = drive(start)

    at_ns = session.kill("gate")
    session.wait_gone()
    time.sleep(0.5)

    record = check_at_rest(arm, at_ns)
    assert count_commands(record, at_ns + 10_000_000, record.state_stamps[-1]) == 0
    assert np.abs(record.q[-1, :6] - record.commands[-1, :6]).max() < 1e-3
    assert np.abs(record.dq[record.state_stamps < at_ns][-1]).max() > 0.1, "it moved"
    assert record.is_enabled[-1], "it holds, with power on"
    verdict = judge(record, session.episode().robot_info)
    assert verdict.is_ok, str(verdict)
