"""Processes that are killed or stand still, in every world a real robot lives in.

What happened is read from the log of the emulated robot, a process of its own. Rows 13,
14, 21, 23 and 25 of the fault matrix; the other rows: docs/faults.md says where.
"""

from __future__ import annotations

import signal
import time

import pytest
import ros_rig
from emulated_arms import MAKERS, RosArm, make_on_line
from ros_rig import need_dds
from running import SLACK, RunningSession
from worlds import BESIDE

FAST = 0.1  # [rad/s] an arm that has to brake
JOINED = (
    5.0  # [s] another node begins, and is found; that it is late is no fault of ours
)
SETTLED = 0.3  # [s] a braking gate, five lags of the servo, and a shared machine
IN_ROS = {
    "paused": "state_lost",
    "garbage": "state_lost",
    "degrees": "jumped",
    "twice": "2 publishers on /joint_states, not 1",
    "rogue": "1 other publisher(s) on /",
}
ON_CAN = {
    "silence": "state_lost",
    "garbage": "state_",
    "rogue": "another master commands the arm (0x155)",
}
ON_SERVOS = {
    "unplug": "plug the adapter in again",
    "overload": "wrist_roll, gripper: expected no error, got 'overloaded'",
    "overheat": "wrist_roll, gripper: expected no error, got 'overheated'",
    "brownout": "its supply broke down",
    "foreign": "another controller speaks on this bus",
    "duplicate_id": "wrist_roll",
}
ON_DYNAMIXELS = {
    "unplug": "plug the adapter in again",
    "overload": "wrist_rotate: expected no error, got 'overloaded'",
    "overheat": "wrist_rotate: expected no error, got 'overheated'",
    "brownout": "wrist_rotate: ",
    "silent": "wrist_rotate: expected answers, got none for a while",
    "duplicate_id": "wrist_",
}
ON_UR = {
    "unplug": "state_lost",
    "protective_stop": "protective stop; clear the arm's way",
    "safeguard": "safeguard stop; close the safeguard",
    "estop": "emergency stop (robot); release the button",
    "local": "its program does not run",
    "power_loss": "connection lost",
}
AT_BOX = {
    "silence": "state_lost",
    "garbage": "lost",
    "cable": "state_lost",
    "collision": "protective stop (C31",
    "estop": "emergency stop (C1",
    "self_collision": "C22",
}
ON_MOTORS = {
    "silence": "state_lost",
    "cable": "state_lost",
    "power_off": "state_lost",
    "coil_hot": "coil too hot (C)",
    "communication": "communication lost (D)",
    "rogue": "another",
}
AT_UNIT = {
    "cable": "state_lost",
    "power_off": "state_lost",
    "collision": 'protective stop ("joint_reflex")',
    "user_stop": "emergency stop (user stop)",
}
LIMP = {"brownout", "overheat", "coil_hot"}  # its servos lose their torque: it falls
OTHERS = {"twice", "rogue", "foreign", "duplicate_id"}
HURTS = [
    *((world, *hurt) for world in ("ros2", "ros1") for hurt in IN_ROS.items()),
    *(("can", *hurt) for hurt in ON_CAN.items()),
    *(("feetech", *hurt) for hurt in ON_SERVOS.items()),
    *(("dynamixel", *hurt) for hurt in ON_DYNAMIXELS.items()),
    *(("ur", *hurt) for hurt in ON_UR.items()),
    *(("xarm", *hurt) for hurt in AT_BOX.items()),
    *(("damiao", *hurt) for hurt in ON_MOTORS.items()),
    *(("franka", *hurt) for hurt in AT_UNIT.items()),
]
MOTION = ("leader=autopilot", "leader.size=0.1", "leader.speed=0.25")

pytestmark = [pytest.mark.process, pytest.mark.nightly, pytest.mark.timeout(200)]


@pytest.fixture(scope="module")
def master():
    yield from ros_rig.run_master()


@pytest.fixture(params=("ros2", "ros1", *MAKERS))
def arm(request, tmp_path):
    need_dds()
    env = request.getfixturevalue("master") if request.param == "ros1" else {}
    if request.param in MAKERS:
        arm = make_on_line(request.param, tmp_path)
    else:
        arm = RosArm(request.param, tmp_path, env)
    yield arm
    arm.end()


@pytest.fixture
def session(arm, tmp_path):
    words = [*MOTION, "leader.laps=100", "session.episodes=1", *arm.args]
    session = RunningSession(words, tmp_path / "out", env=arm.env)
    session.wait_for("ENGAGED", 120.0)
    session.find_pids()
    time.sleep(0.7)
    yield session
    session.end()


def check_rest(arm, at_ns, found=0.0):
    arrived, t_ns, speeds = arm.read()
    assert speeds[(t_ns > at_ns - 3e8) & (t_ns < at_ns)].max() > FAST, "it moved"
    moving = t_ns[(speeds > 0.02) & (t_ns > at_ns)]
    rest = 0.0 if not len(moving) else (moving[-1] - at_ns) * 1e-9
    V, A = arm.robot.dq_max[:6], arm.robot.ddq_max[:6]
    bound = found + float((V / A).max()) + SETTLED + 5 * SLACK
    assert rest <= bound, f"rest after {rest:.3f} s"
    assert all(v.is_ok for v in arm.judge(arrived))


@pytest.mark.parametrize("victim", ["gate", "session", "leader"])
def test_the_robot_comes_to_rest_after_any_kill(arm, session, victim):
    at_ns = session.kill(victim)
    session.wait_gone()
    time.sleep(0.5)
    arm.end()

    check_rest(arm, at_ns)


def test_a_gate_that_stood_still_sends_no_burst(arm, session):
    at_ns = session.kill("gate", signal.SIGSTOP)
    time.sleep(0.5)
    on_ns = session.kill("gate", signal.SIGCONT)
    time.sleep(1.0 + BESIDE)
    session.kill("session", signal.SIGTERM)
    session.wait_gone()
    arm.end()

    arrived, t_ns, speeds = arm.read()
    standing = (t_ns > at_ns + 4.5e8) & (t_ns < on_ns)
    assert speeds[standing].max() < 0.05, "it rests while its gate stands"
    first = (arrived.t_ns >= on_ns) & (arrived.t_ns < on_ns + 1e8)
    assert first.sum() <= 0.1 / (0.8 * arm.period) + 2, "a burst"
    assert "the gate was silent" in session.text()
    assert "state_lost" not in session.text(), "the robot was there all the time"
    V = arm.robot.dq_max[:6].max()
    assert speeds[t_ns > on_ns].max() <= 1.3 * V
    assert all(v.is_ok for v in arm.judge(arrived))


def test_a_robot_that_vanishes_stops_the_session_with_a_reason(arm, session):
    arm.kill()

    assert session.wait_gone() == 4
    reasons = ("state_lost", "bus lost", "nobody takes", "connection lost")
    reasons += ("plug the adapter in again",)
    assert any(reason in session.text() for reason in reasons)


@pytest.mark.parametrize("arm, fault, reason", HURTS, indirect=["arm"])
def test_a_robot_that_goes_wrong_is_left_with_a_reason_and_without_a_jump(
    arm, session, fault, reason
):
    at_ns = time.monotonic_ns()
    arm.hurt(fault)

    assert session.wait_gone() == 4
    assert reason in session.text()
    time.sleep(0.5)
    arm.end()
    if fault in LIMP:
        arrived, _, _ = arm.read()
        assert all(v.is_ok for v in arm.judge(arrived))
    else:
        check_rest(arm, at_ns, JOINED if fault in OTHERS else 0.0)
