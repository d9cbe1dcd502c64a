"""What a robot's controllers do with messages, known before and while it is driven."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ros_memory import MemoryGraph, MemoryRobot, RosSession, make_config
from ros_rig import load_robot

from paprle.contracts.errors import DeviceError
from paprle.followers.ros2 import follower as module
from paprle.followers.ros2.follower import RosFollower
from paprle_emulators.ros.controllers import BEGINS

PIPER = load_robot("piper")
CONFIG = make_config(**{"env.timeout": 0.5})
LINE = "arm_controller:\n    ros__parameters: { interpolate_from_desired_state: true }"


@pytest.fixture
def graph(monkeypatch):
    graph = MemoryGraph()
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("gate"))
    return graph


def open_follower(graph):
    follower = RosFollower(CONFIG, PIPER, graph.clock)
    follower.open()
    return follower


def test_a_stock_controller_is_named_at_the_start_with_the_lines_to_add(graph):
    MemoryRobot(graph)
    graph.parameters["/arm_controller"] = {"interpolate_from_desired_state": False}

    notes = "\n".join(open_follower(graph).notes)

    assert "/arm_controller begins each message where the arm is measured" in notes
    assert LINE in notes


def test_a_controller_without_parameters_gets_the_lines_printed_too(graph):
    MemoryRobot(graph)

    notes = "\n".join(open_follower(graph).notes)

    assert "/arm_controller was not asked" in notes
    assert LINE in notes


@pytest.mark.parametrize("key", ["interpolate_from_desired_state", "open_loop_control"])
def test_a_controller_that_begins_at_its_desired_state_needs_no_telling(graph, key):
    rig = MemoryRobot(graph, begins="desired")
    for name in ("/arm_controller", "/gripper_controller"):
        graph.parameters[name] = {key: True}
    follower = open_follower(graph)

    assert "_controller" not in "".join(follower.notes)
    for k in range(100):
        follower.write(follower.read().q + 1e-4 * k)
        graph.tick()
        graph.tick()
    assert not rig.log.all("refused")


def test_a_message_that_the_controller_would_refuse_is_refused_before_arming(graph):
    rig = MemoryRobot(graph)
    graph.parameters["/arm_controller"] = {"joints": [f"joint{i}" for i in range(1, 6)]}

    with pytest.raises(DeviceError) as caught:
        open_follower(graph)

    text = str(caught.value)
    assert "/arm_controller refuses each message: expected its joints joint1" in text
    assert "got joint1, joint2, joint3, joint4, joint5, joint6; set env.comm" in text
    assert not rig.log.all("command")


def test_a_controllers_state_names_its_joints_where_there_are_no_services(graph):
    rig = MemoryRobot(graph)
    arm, _ = rig.robot._controllers[0]
    arm.joints = (*arm.joints[:5], "joint9")

    with pytest.raises(DeviceError, match=r"expected its joints .*joint9, got"):
        open_follower(graph)


def test_joints_that_no_message_names_are_told(graph):
    rig = MemoryRobot(graph)
    arm, _ = rig.robot._controllers[0]
    arm.joints, arm.q = (*arm.joints, "rail"), np.append(arm.q, 0.0)
    rig.robot.step = lambda _: None

    notes = "\n".join(open_follower(graph).notes)

    assert "/arm_controller has rail, too, which no message names" in notes
    assert "allow_partial_joints_goal" in notes


def test_a_controller_that_is_not_active_is_named_at_the_start(graph):
    MemoryRobot(graph).robot.switch("inactive", is_on=True)

    notes = "\n".join(open_follower(graph).notes)

    assert "--activate arm_controller" in notes


@pytest.mark.parametrize(
    "fault, why",
    [
        ("inactive", "as one that is not active"),
        ("ignoring", "/arm_controller does not go on: it refuses the messages"),
        ("blocked", "/arm_controller takes the messages: the arm itself is held"),
    ],
)
def test_refused_messages_are_told_from_an_arm_that_is_held(monkeypatch, fault, why):
    # a stock one of 200 Hz would begin each message anew where the arm is held
    begins = "desired" if fault == "blocked" else "measured"
    session = RosSession(monkeypatch, make_config(), tau=0.02, begins=begins)
    session.engage().move(60, speed=0.2)
    assert not session.follower.take_warnings()

    if fault == "blocked":
        stood = session.rig.q
        drives = session.rig.robot._drives
        monkeypatch.setattr(drives, "step", lambda *_: setattr(drives, "q", stood))
    else:
        session.rig.robot.switch(fault, is_on=True)
    session.move(300, speed=0.3)

    warnings = session.follower.take_warnings()
    assert len(warnings) == 1
    assert "does not answer: expected it to follow by" in warnings[0]
    assert why in warnings[0]


@pytest.mark.parametrize("begins", BEGINS)
def test_an_arm_that_was_held_goes_on_once_the_command_stands(monkeypatch, begins):
    """A stock controller begins where the arm is, and needs time between messages."""
    session = RosSession(monkeypatch, make_config(), tau=0.02, begins=begins)
    session.engage().move(60, speed=0.2)
    drives = session.rig.robot._drives
    stood = session.rig.q
    with monkeypatch.context() as held:
        held.setattr(drives, "step", lambda *_: setattr(drives, "q", stood))
        session.move(100, speed=0.3)
    session.step(300)

    np.testing.assert_allclose(session.rig.q[:6], session.q_cmd[:6], atol=2e-3)
    assert session.judge().is_ok


def test_an_arm_that_moves_is_never_said_to_stand(monkeypatch):
    session = RosSession(monkeypatch, make_config(), tau=0.05)
    session.engage()
    for speed in (0.02, -0.02, 0.3, -0.3):
        session.move(150, speed=speed).step(100)

    assert not session.follower.take_warnings()


def test_a_driver_that_tells_nothing_of_itself_leaves_the_possibilities(monkeypatch):
    session = RosSession(monkeypatch, make_config(), tau=0.02)
    session.engage().move(60, speed=0.2)
    for watch in session.follower._remote._controllers:
        watch.name = ""
    session.rig.robot.switch("ignoring", is_on=True)
    session.move(300, speed=0.3)

    (warning,) = session.follower.take_warnings()
    assert "another list of joints, a controller that is not active" in warning


@pytest.mark.parametrize("begins", BEGINS)
def test_a_session_is_as_smooth_on_a_stock_controller(monkeypatch, begins):
    """200 Hz of the controller, so that nothing but its begin makes a difference."""
    session = RosSession(monkeypatch, make_config(), tau=0.02, begins=begins)
    session.engage().move(100, speed=0.2).move(100, speed=-0.3).step(160)

    motion = session.rig.log.all("motion")
    q = np.array([entry["q"][:6] for entry in motion])
    t = np.array([entry["t_ns"] for entry in motion]) * 1e-9
    q, t = q[np.append(True, np.diff(t) > 0)], t[np.append(True, np.diff(t) > 0)]
    hardest = np.abs(np.diff(q, 2, axis=0)).max() / 0.005**2
    A = session.robot.info.ddq_max[:6].max()
    assert hardest < 2 * A
    assert session.judge().is_ok
    np.testing.assert_allclose(session.rig.q[:6], session.q_cmd[:6], atol=1e-3)


def test_the_description_says_where_the_emulator_begins(graph):
    rig = MemoryRobot(graph)
    assert rig.description.begins == "measured"
    assert replace(rig.description, begins="desired").begins == "desired"
