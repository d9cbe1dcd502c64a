"""Sessions with the emulated arms, as a user types them; judged at the arm's side."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
from damiao_rig import EmulatedDamiao, find_rest_ns, judge
from running import RunningSession

pytest.importorskip("can")
pytestmark = [pytest.mark.process, pytest.mark.timed]

MOTION = (
    "leader=autopilot",
    "leader.size=0.1",
    "leader.speed=0.25",
    "leader.laps=100",
    "session.episodes=1",
)
SETTLED = 0.5  # [s] a braking gate, five lags of the arm, and a shared machine
IN_FLIGHT = 60_000_000  # [ns] until the motors' word has come, and the gate heard it


@pytest.fixture
def start(tmp_path):
    ends = []

    def start_one(model="openarm", *args):
        arm = EmulatedDamiao(tmp_path, model)
        session = RunningSession([*arm.args, *MOTION, *args], tmp_path / "rec")
        ends.extend((session.end, arm.end))
        session.wait_for("ENGAGED")
        session.find_pids()
        time.sleep(0.7)
        return arm, session

    yield start_one
    for end in ends:
        end()


def check_commands(arm, session):
    """Every command within the limits, apart from stalls of this machine."""
    record = arm.read()
    verdicts = judge(record, session.episode().robot_info, arm.table.n)
    assert all(verdict.is_ok for verdict in verdicts), "\n".join(map(str, verdicts))
    return record


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("coil_hot", "coil too hot (C)"),
        pytest.param("over_voltage", "over-voltage", marks=pytest.mark.nightly),
        pytest.param("under_voltage", "under-voltage", marks=pytest.mark.nightly),
        pytest.param("over_current", "over-current", marks=pytest.mark.nightly),
        pytest.param("mos_hot", "transistors too hot", marks=pytest.mark.nightly),
        pytest.param("communication", "(D)", marks=pytest.mark.nightly),
        pytest.param("overload", "overload (E)", marks=pytest.mark.nightly),
        pytest.param("cable", "state_lost", marks=pytest.mark.nightly),
        pytest.param("silence", "state_lost", marks=pytest.mark.nightly),
        pytest.param("power_off", "state_lost", marks=pytest.mark.nightly),
    ],
)
def test_a_motor_that_fails_ends_the_motion_and_gets_no_torque_again(
    start, fault, words
):
    arm, session = start()

    at_ns = arm.do(fault)

    assert session.wait_gone() == 4
    assert words in session.text()
    record = check_commands(arm, session)
    assert not [s for s in record.specials if s[0] > at_ns and s[2] == 0xFC]
    late = (record.stamps > at_ns + 4 * IN_FLIGHT) & (record.kp[:, 0] > 0.0)
    goals = record.q_des[late][:, : arm.table.n]
    assert len(goals) == 0 or np.nanmax(np.ptp(goals, axis=0)) < 0.05


@pytest.mark.nightly
@pytest.mark.parametrize("model", ["openarm", "yam"])
def test_a_killed_gate_leaves_the_arm_at_its_last_goal_then_to_its_motors(start, model):
    arm, session = start(model)

    at_ns = session.kill("gate")
    session.wait_gone()
    time.sleep(1.0)

    record = check_commands(arm, session)
    n = arm.table.n
    held = (record.state_stamps > at_ns + 300_000_000) & (
        record.state_stamps < at_ns + 380_000_000
    )
    last = record.q_des[-1, :n]
    assert np.abs(record.q[held][:, :n] - last).max() < 0.05
    assert set(record.statuses[-1]) == {"d"}, "then they brake"


@pytest.mark.nightly
@pytest.mark.parametrize("victim", ["session", "leader"])
def test_a_killed_session_or_leader_brakes_and_the_arm_sinks_slowly(start, victim):
    arm, session = start()

    at_ns = session.kill(victim)
    session.wait_gone()

    record = check_commands(arm, session)
    followed = record.kp[:, 0] > 0.0
    last_ns = record.stamps[followed][-1]
    assert find_rest_ns(record, at_ns) > at_ns
    sinking = record.state_stamps > max(last_ns, at_ns + int(SETTLED * 1e9))
    assert np.abs(record.dq[sinking][:, : arm.table.n]).max(initial=0.0) < 3.0


@pytest.mark.nightly
@pytest.mark.parametrize("victim", ["gate", "leader"])
def test_a_short_stall_is_no_jump_and_a_long_one_of_the_gate_is_a_stop(start, victim):
    arm, session = start()

    session.kill(victim, signal.SIGSTOP)
    time.sleep(0.7)
    session.kill(victim, signal.SIGCONT)
    time.sleep(0.7)

    if victim == "gate":
        assert session.wait_gone() == 4
        assert "communication lost (D)" in session.text()
    record = check_commands(arm, session)
    if victim == "gate":
        assert "d" in record.statuses[-1], "nothing gets its torque back"


@pytest.mark.nightly
@pytest.mark.timeout(200)
@pytest.mark.parametrize("model", ["openarm", "yam"])
def test_a_minute_is_within_the_limits_and_on_time(start, model):
    arm, session = start(model)

    time.sleep(60.0)
    assert session.process.poll() is None, session.text()
    session.process.terminate()
    session.wait_gone()

    record = check_commands(arm, session)
    followed = record.stamps[record.kp[:, 0] > 0.0]
    gaps = np.diff(followed) * 1e-6
    assert np.percentile(gaps, 99) < 15.0
    assert len(followed) > 55 * 200
