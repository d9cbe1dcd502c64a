"""Sessions with the emulated arm, as a user types them; judged at the arm's side."""

from __future__ import annotations

import time

import numpy as np
import pytest
from piper_rig import EmulatedPiper, count_commands, find_rest_ns, judge
from running import RunningSession

from paprle.cli import main
from paprle.contracts.settings.core import GateSettings

pytest.importorskip("piper_sdk")
pytestmark = [pytest.mark.process, pytest.mark.timed, pytest.mark.nightly]

MOTION = (
    "leader=autopilot",
    "leader.size=0.1",
    "leader.speed=0.25",
    "leader.laps=100",
    "session.episodes=1",
)
SETTLED = 0.3  # [s] a braking gate, five lags of the servo, and a shared machine
E, LAG_TIME = GateSettings().lag_bound, GateSettings().lag_time
IN_FLIGHT = 50_000_000  # [ns] until the arm's word has come, and the gate has heard it


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


def check(arm, session, at_ns):
    """At rest soon after, every command within the limits; returns the journal."""
    record = arm.read()
    before = record.dq[record.state_stamps < at_ns][-1]
    assert np.abs(before).max() > 0.1, "it did not move"
    verdict = judge(record, session.episode().robot_info)
    assert verdict.is_ok, str(verdict)
    rest = (find_rest_ns(record, at_ns) - at_ns) * 1e-9
    assert rest < SETTLED, f"rest after {rest:.3f} s"
    return record


def test_a_killed_gate_leaves_the_arm_at_its_last_target(start, arm):
    session = drive(start)

    at_ns = session.kill("gate")
    session.wait_gone()
    time.sleep(0.3)

    record = check(arm, session, at_ns)
    assert count_commands(record, at_ns + IN_FLIGHT, record.state_stamps[-1]) == 0
    assert np.abs(record.q[-1, :6] - record.commands[-1, :6]).max() < 1e-3
    assert record.is_enabled[-1], "it holds, with power on"


@pytest.mark.parametrize("name", ["session", "leader"])
def test_a_killed_session_or_leader_brakes_and_holds(start, arm, name):
    session = drive(start)

    at_ns = session.kill(name)
    session.wait_gone()
    time.sleep(0.3)

    record = check(arm, session, at_ns)
    assert record.is_enabled[-1]


@pytest.mark.parametrize(
    ("fault", "arguments"),
    [
        ("collision", {}),
        ("over_temperature", {"joint": 3}),
        ("low_voltage", {}),
        ("teach", {}),
        ("bus_off", {}),
    ],
)
def test_an_arm_that_stops_is_told_nothing_more_wherever_it_is_put(
    start, arm, fault, arguments
):
    session = drive(start)

    at_ns = arm.do(fault, **arguments)
    time.sleep(0.5)
    record = check(arm, session, at_ns)
    assert count_commands(record, at_ns + 2 * IN_FLIGHT, record.state_stamps[-1]) == 0

    pushed_ns = arm.do("push", joint=1, by=0.5)
    arm.do("none")
    assert session.wait_gone() == 4
    assert "follower_stop" in session.text()
    record = arm.read()
    q = record.q[record.state_stamps > pushed_ns]
    assert np.abs(q - q[0]).max() < 1e-3, "no jump"


def test_an_emergency_stop_that_is_ended_starts_nothing(start, arm):
    session = drive(start)

    at_ns = arm.do("estop")
    time.sleep(0.5)
    arm.do("resume")

    assert session.wait_gone() == 4
    time.sleep(1.0)
    record = arm.read()
    assert count_commands(record, at_ns + 2 * IN_FLIGHT, record.state_stamps[-1]) == 0
    assert not record.is_enabled[-1], "power comes by a new session alone"
    verdict = judge(record, session.episode().robot_info)
    assert verdict.is_ok, str(verdict)


def test_silence_brakes_and_a_long_one_latches(start, arm):
    session = drive(start)

    at_ns = arm.do("silence", time=0.3)

    assert session.wait_gone() == 4
    assert "state_lost" in session.text()
    check(arm, session, at_ns)


def test_states_that_stand_still_are_not_run_away_from(start, arm):
    session = drive(start)

    at_ns = arm.do("stuck")
    time.sleep(1.0)
    session.process.terminate()

    session.wait_gone()
    record = arm.read()
    told = record.q[record.state_stamps < at_ns][-1]
    after = record.q[record.state_stamps > at_ns]
    robot = session.episode().robot_info
    V, A = robot.dq_max[:6], robot.ddq_max[:6]
    gone = np.abs(after - told).max(axis=0)[:6]
    assert (gone < E + LAG_TIME * V + V**2 / (2 * A)).all(), "leash, its time, brake"
    assert "lag" in session.text()
    verdict = judge(record, robot)
    assert verdict.is_ok, str(verdict)


def test_a_vanished_arm_ends_the_session(start, arm):
    session = drive(start)

    arm.kill()

    assert session.wait_gone() == 4
    record = arm.read()
    verdict = judge(record, session.episode().robot_info)
    assert verdict.is_ok, str(verdict)


def test_identify_measures_the_lag_of_an_arm_on_its_bus(tmp_path, capsys):
    (tmp_path / "slow").mkdir()
    arm = EmulatedPiper(tmp_path / "slow", "lag=0.05", "q=0,1.5,-1,0,-0.75,0")
    words = ["leader=autopilot", *arm.args, "--only", "follower", "--dry-run"]

    assert main(["identify", *words]) == 0

    out = capsys.readouterr().out
    measured = float(out.split("set envs.can.lag to ")[1].split()[0])
    assert measured == pytest.approx(0.05, abs=0.008)
    arm.end()
