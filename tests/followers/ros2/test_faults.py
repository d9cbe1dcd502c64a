"""A robot behind ROS that goes wrong while it is driven: no jump, a reason shown."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from cells import spread
from ros_memory import RosSession, make_config

from paprle.gate.reasons import Reason, from_bits
from paprle.hardware.ros.joints import Joints, encode_joints
from paprle.hardware.ros.messages import JOINT_STATE

WORLDS = ["ros2_sim", "ros1_sim"]


@pytest.fixture(params=spread(WORLDS, "ros2_sim"))
def moving(request, monkeypatch):
    session = RosSession(monkeypatch, env=request.param, tau=0.02)
    session.engage().move(60, speed=0.2)
    return session


def reasons(session):
    return set(from_bits(int(session.status["latched"])))


def find_share(moving):
    """How fast the robot's controller went at most, as a share of V."""
    motion = moving.rig.log.all("motion")
    q = np.array([entry["q_des"][:6] for entry in motion])
    dt = np.diff([entry["t_ns"] for entry in motion]) * 1e-9
    dq = np.diff(q, axis=0)[dt > 0] / dt[dt > 0][:, None]
    return (np.abs(dq) / moving.robot.info.dq_max[:6]).max()


@pytest.mark.parametrize("moving", WORLDS, indirect=True)
def test_commands_at_the_robot_keep_every_invariant(moving):
    moving.move(100, speed=0.2).move(100, speed=-0.3).step(160)

    verdict = moving.judge()

    assert verdict.is_ok, verdict
    assert not moving.rig.log.all("refused")
    np.testing.assert_allclose(moving.rig.q[:6], moving.q_cmd[:6], atol=1e-3)


@pytest.mark.parametrize("moving", spread(WORLDS, "ros2_sim"), indirect=True)
@pytest.mark.parametrize(
    "fault, expected",
    [
        ("paused", {Reason.STATE_STALE, Reason.STATE_LOST}),
        ("silent", {Reason.STATE_STALE, Reason.STATE_LOST}),
        ("delayed", {Reason.STATE_LOST}),
        ("mislabelled", {Reason.FOLLOWER_STOP}),
        ("degrees", {Reason.FOLLOWER_STOP, Reason.STATE_BAD}),
        ("nan", {Reason.STATE_BAD}),
        ("garbage", {Reason.STATE_STALE, Reason.STATE_LOST}),
    ],
)
def test_a_fault_brakes_with_a_reason_and_no_jump(moving, fault, expected):
    moving.rig.robot.switch(fault, is_on=True)
    moving.move(80, speed=0.2)

    assert moving.gate_state in {"HOLD", "STOPPED"}
    assert reasons(moving) & expected
    stood = moving.q_cmd
    moving.move(40, speed=0.2)
    np.testing.assert_array_equal(moving.q_cmd, stood)
    assert moving.judge().is_ok
    if fault != "paused":  # then it stays where it was, whatever it is told
        np.testing.assert_allclose(moving.rig.q[:6], stood[:6], atol=2e-3)
        q_des = np.array([m["q_des"][:6] for m in moving.rig.log.all("motion")])
        assert np.ptp(q_des[-40:], axis=0).max() < 1e-6, "the robot itself is at rest"


@pytest.mark.parametrize("moving", ["ros2_sim"], indirect=True)
def test_states_that_stay_late_are_not_driven_by(moving):
    moving.rig.robot.switch("delayed", is_on=True)
    moving.move(200, speed=0.2)

    age = moving.clock() - moving.follower.read().stamp_ns
    assert 295_000_000 <= age <= 310_000_000
    moving.engaged = False
    moving.step(5).press("clear").step(5)
    assert moving.gate_state == "STOPPED", "new ones come, all of them old"


@pytest.mark.parametrize("moving", ["ros2_sim"], indirect=True)
def test_states_that_stand_still_are_not_run_away_from(moving):
    moving.rig.robot.switch("stuck", is_on=True)
    told = moving.follower.read().q[:6]
    moving.move(200, speed=0.3)

    age = moving.clock() - moving.follower.read().stamp_ns
    assert age <= 5_000_000, "they look fresh"
    assert np.abs(moving.rig.q[:6] - told).max() < 0.3, "E of the leash and the brake"
    assert moving.status["counts"][Reason.LAG]
    moving.rig.robot.switch("stuck", is_on=False)
    moving.step(100)
    assert moving.judge().is_ok
    assert find_share(moving) < 2.0, "nothing that was put off is pulled near"


@pytest.mark.parametrize("moving", ["ros2_sim"], indirect=True)
def test_after_a_jump_it_may_be_cleared_once_states_are_steady(moving):
    moving.rig.robot.switch("mislabelled", is_on=True)
    moving.step(20)
    assert "jumped" in moving.follower.read().stop_reason
    moving.rig.robot.switch("mislabelled", is_on=False)
    moving.step(190)
    assert "jumped" in moving.follower.read().stop_reason, "not a second yet"
    moving.step(20)

    assert not moving.follower.read().stop_reason
    assert moving.gate_state == "STOPPED"
    moving.engaged = False
    moving.step(5).press("clear").step(5)
    assert moving.gate_state != "STOPPED"


def test_states_that_get_lost_hold_it_and_stop_nothing(moving):
    moving.rig.robot.switch("lost", is_on=True)
    moving.move(200, speed=0.2)

    assert moving.status["counts"][Reason.STATE_STALE]
    assert moving.gate_state != "STOPPED"
    assert moving.judge().is_ok


def test_reordered_messages_and_missing_velocities_stop_nothing(moving):
    for fault in ("reordered", "no_velocities"):
        moving.rig.robot.switch(fault, is_on=True)
    moving.move(100, speed=0.2)

    assert moving.gate_state == "ENGAGED"
    assert moving.judge().is_ok


def test_a_robot_that_ignores_commands_is_not_run_away_from(moving):
    moving.rig.robot.switch("ignoring", is_on=True)
    moving.move(200, speed=0.3)

    ahead = np.abs(moving.q_cmd[:6] - moving.rig.q[:6]).max()
    assert ahead < 0.3, "E of the leash and the brake"
    moving.rig.robot.switch("ignoring", is_on=False)
    moving.step(100)
    assert moving.judge().is_ok
    assert find_share(moving) < 2.0, "let go, it catches up"


@pytest.mark.parametrize("env", ["ros2_sim", "ros1_sim"])
def test_a_restart_after_a_protective_stop_finds_no_command_waiting(monkeypatch, env):
    config = make_config(env=env, **{"env.running_topic": "/running"})
    session = RosSession(monkeypatch, config, env=env, running="/running", tau=0.02)
    session.engage().move(60, speed=0.2)
    session.rig.robot.switch("protective_stop", is_on=True)
    session.move(60, speed=0.3)  # 9 cm while the robot is stopped, and 30°
    turn = pin.exp3(np.radians([30.0, 0.0, 0.0]))
    session.T_hand.rotation = turn @ session.T_hand.rotation
    session.step(10)
    stood = session.rig.q

    session.rig.robot.switch("protective_stop", is_on=False)
    session.move(60, speed=0.3)

    assert session.gate_state == "STOPPED"
    assert reasons(session) == {Reason.FOLLOWER_STOP}
    assert "not running (/running)" in session.status["stop_reason"].tobytes().decode()
    np.testing.assert_allclose(session.rig.q[:6], stood[:6], atol=1e-6)

    session.engaged = False
    session.step(5).press("clear").step(5)
    session.engaged = True
    session.until("WAITING").step(5).press("engage").until("ENGAGED")
    session.move(40, speed=0.2)
    speeds = np.diff([m["q_des"][:6] for m in session.rig.log.all("motion")], axis=0)
    assert (np.abs(speeds).max(axis=0) <= 0.06 * session.robot.info.dq_max[:6]).all()


def test_a_silent_gate_leaves_the_brake_to_the_robot(moving):
    dq = (moving.rig.q - moving.rig.q) * 0
    last = moving.find_received()[-1]
    for _ in range(100):  # the gate is dead, the robot is not
        moving.graph.tick()
        dq = np.maximum(dq, np.abs(moving.rig.robot.dq))
    moving.graph.tick()

    q_des = np.array([m["q_des"] for m in moving.rig.log.all("motion")])[-100:, :6]
    rest = np.flatnonzero(np.abs(np.diff(q_des, axis=0)).max(axis=1) > 1e-9)
    V, A = moving.robot.info.dq_max[:6], moving.robot.info.ddq_max[:6]
    assert len(rest) and rest[-1] * 0.0025 <= 0.005 + (V / A).max()
    assert (np.abs(q_des[-1] - last) <= V**2 / (2 * A)).all()
    assert np.abs(moving.rig.robot.dq[:6]).max() < 0.02


def test_a_gate_that_stood_still_does_not_pull_the_robot_back(moving):
    moving.move(100, speed=0.6)
    begin = len(moving.rig.log.all("motion"))
    for _ in range(40):  # 0.1 s, in which the robot brakes by itself
        moving.graph.tick()
    moving.move(100, speed=0.6)

    assert moving.status["counts"][Reason.STALLED]
    motion = moving.rig.log.all("motion")[begin:]
    t, q = ([m[key] for m in motion] for key in ("t_ns", "q_des"))
    speeds = np.diff(q, axis=0)[:, :6] / (np.diff(t) * 1e-9)[:, None]
    V = moving.robot.info.dq_max[:6]
    assert np.abs(speeds).max() > 0.5, "it was fast"
    # at V, the controller's own curve between two points may be a little quicker
    assert (np.abs(speeds) <= 1.001 * V).all()
    forward = np.sign(speeds[np.argmax(np.abs(speeds).max(axis=1))])
    assert (forward * speeds >= -0.2 * V).all(), "pulled back"


@pytest.mark.parametrize("moving", ["ros2_sim"], indirect=True)
@pytest.mark.parametrize("hours", spread([-1, 1, 24], -1))
def test_a_robot_whose_clock_is_wrong_is_as_fresh_as_its_messages(moving, hours):
    moving.rig.robot.switch("silent", is_on=True)
    talker = moving.graph.join("robot with another clock")
    publisher = talker.advertise("/joint_states", JOINT_STATE)
    names = tuple(moving.robot.joint_names)

    def speak():
        robot, stamp_ns = moving.rig.robot, moving.clock() + int(hours * 3600e9)
        n = len(names)
        joints = Joints(names, robot.q[:n], robot.dq[:n], np.zeros(n), max(stamp_ns, 0))
        publisher.publish(encode_joints(moving.graph.codec, joints))

    moving.graph.stepped.append(speak)
    moving.move(40, speed=0.2)
    age = moving.clock() - moving.follower.read().stamp_ns

    assert age <= 5_000_000


@pytest.mark.parametrize("moving", ["ros2_sim"], indirect=True)
def test_a_command_made_before_a_standstill_is_not_sent_after_it(moving):
    command = moving.follower._remote._commanders[0]
    clock, n_before = command._age_clock, len(moving.find_received())
    reads = iter([0, 500_000_000])  # begun, about to leave

    command._age_clock = lambda: clock() + next(reads)
    moving.follower.write(moving.q_cmd)
    command._age_clock = clock
    moving.graph.tick(0.0)

    assert len(moving.find_received()) == n_before
