"""A driver that publishes angles within one turn, while the joint goes on turning."""

from __future__ import annotations

import numpy as np
import pytest
from ros_memory import MemoryGraph, MemoryRobot, make_config
from ros_rig import load_robot

from paprle.followers.ros2 import follower as module
from paprle.followers.ros2.follower import RosFollower

UR5E = load_robot("ur5e")
WRIST = UR5E.joint_names.index("wrist_3_joint")
PERIOD = 0.005  # [s] of commands


@pytest.fixture
def start(monkeypatch):
    """Return a graph, a robot whose wrist stands at an angle, and its follower."""

    def start(angle):
        graph = MemoryGraph()
        monkeypatch.setattr(module, "open_bus", lambda *_: graph.join())
        rig = MemoryRobot(graph, "ur5e", env="ros2", home={"wrist_3_joint": angle})
        rig.robot.switch("wrapped", is_on=True)
        follower = RosFollower(make_config("ur5e", "ros2"), UR5E, graph.clock)
        follower.open()
        return graph, rig, follower

    return start


@pytest.mark.parametrize("speed", [0.5, -0.5])
def test_a_joint_crosses_half_a_turn_without_a_stop_or_a_false_velocity(start, speed):
    graph, rig, follower = start(np.sign(speed) * 3.0)
    q, errors, warnings = follower.read().q, [], []
    for k in range(200):
        follower.write(q + speed * PERIOD * k * (np.arange(6) == WRIST))
        graph.tick()
        graph.tick()
        state = follower.read()
        assert not state.stop_reason
        assert abs(state.dq[WRIST]) < 1.1 * abs(speed)
        errors.append(abs(state.q[WRIST] - rig.q[WRIST]))
        warnings += follower.take_warnings()

    assert abs(rig.q[WRIST]) > 3.4, "the robot itself went on turning"
    assert max(errors) < 0.01
    [told] = [text for text in warnings if "within one turn" in text]
    assert "wrist_3_joint" in told


def test_turns_before_the_start_are_those_of_the_robots_controller(start):
    graph, rig, follower = start(4.28)

    q = follower.read().q
    for _ in range(200):
        follower.write(q)
        graph.tick()
        graph.tick()

    assert q[WRIST] == pytest.approx(4.28, abs=1e-3)
    assert rig.q[WRIST] == pytest.approx(4.28, abs=1e-3)
