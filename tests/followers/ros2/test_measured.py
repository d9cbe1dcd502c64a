"""States that are measured, and such that only repeat what was commanded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cells import spread
from ros_memory import RosSession, make_config

ENVS = ("ros2_sim", "ros2", "piper_ros")


def drive(monkeypatch, env, *, is_simulated=False, **robot):
    """Move the hand for two seconds, there and back; returns what was noticed."""
    config = replace(make_config(env=env), simulated=is_simulated)
    session = RosSession(monkeypatch, config, env=env, **robot)
    session.engage()
    for speed in (0.2, -0.2, 0.3, -0.3):
        session.move(100, speed=speed)
    assert session.judge().is_ok
    return session, "\n".join(session.follower.take_warnings())


@pytest.mark.parametrize("env", spread(ENVS, "ros2_sim"))
def test_an_echo_is_told_in_words(monkeypatch, env):
    _, told = drive(monkeypatch, env, tau=0.0)

    assert "expected states that are measured, got the commands again" in told
    assert "fake hardware or a simulation" in told


@pytest.mark.parametrize("env", spread(ENVS, "piper_ros"))
@pytest.mark.parametrize("tau", spread([0.01, 0.02], 0.01))
def test_an_arm_with_a_lag_is_no_echo(monkeypatch, env, tau):
    _, told = drive(monkeypatch, env, tau=tau)

    assert not told


def test_an_arm_without_a_lag_that_sags_is_no_echo(monkeypatch):
    def sag(rig):
        drives = rig.robot._drives
        step = drives.step

        def stepped(desired, dt):
            step(desired + 1e-4, dt)

        monkeypatch.setattr(drives, "step", stepped)

    session = RosSession(monkeypatch, make_config(), tau=0.0)
    sag(session.rig)
    session.engage()
    for speed in (0.2, -0.2, 0.3, -0.3):
        session.move(100, speed=speed)

    assert not session.follower.take_warnings()


def test_a_simulation_that_is_known_is_told_at_the_start_alone(monkeypatch):
    session, told = drive(monkeypatch, "ros2_sim", is_simulated=True, tau=0.0)

    assert not told
    assert "SIMULATION" in "".join(session.follower.notes)


def test_the_driver_of_today_is_driven_by_name_and_measured(monkeypatch):
    """agx_arm_ros: one JointState for all, the whole stroke, velocities of 0."""
    session = RosSession(monkeypatch, make_config(env="ros2"), env="ros2", tau=0.02)
    session.rig.robot.switch("zero_velocities", is_on=True)
    session.engage().move(60, speed=0.2)

    assert session.follower.goes_on_unattended
    state = session.follower.read()
    assert np.abs(state.dq[:6]).max() > 0.05, "they are differences"
    topics = {entry["topic"] for entry in session.rig.log.all("command")}
    assert topics == {"/control/joint_states"}
    joints = session.rig.log.all("command")[0]["joints"]
    assert joints == [
        "joint1",
        "joint2",
        "joint3",
        "joint4",
        "joint5",
        "joint6",
        "gripper",
    ]
