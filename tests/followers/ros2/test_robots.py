"""Every shipped robot that lives behind ROS: its topics fit it, and it is driven."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from cells import spread
from ros_memory import MemoryBus, MemoryGraph, MemoryRobot, make_config
from ros_rig import load_robot

from paprle.followers.ros2 import follower as module
from paprle.followers.ros2.follower import RosFollower
from paprle.hardware.ros.goals import ACTIONS, read_goal
from paprle.hardware.ros.joints import encode_float
from paprle.hardware.ros.messages import (
    FLOAT,
    GRIPPER_COMMAND,
    KINOVA_ANGLES,
    KINOVA_FINGERS,
)
from paprle.ipc.process import WORKSPACE

BODIES = {
    "gripper_action": GRIPPER_COMMAND,
    "kinova_joints": KINOVA_ANGLES,
    "kinova_fingers": KINOVA_FINGERS,
}
ENVS = ("ros2", "ros1", "ros2_sim", "ros1_sim", "piper_ros")
PAIRS = sorted(
    (path.stem, env)
    for path in (WORKSPACE / "configs/follower").glob("*.yaml")
    for env in (yaml.load(path.read_text(), yaml.CSafeLoader).get("envs") or {})
    if env in ENVS
)


def test_the_robots_of_the_house_are_there():
    robots = {robot for robot, _ in PAIRS}

    assert robots >= {"piper", "ur5e", "open_manipulator_x", "papras_7dof"}


def serve_grippers(graph, rig, monkeypatch):
    """Serve actions, which the emulator does in ROS 1 alone: they need rclpy."""
    actions = [
        (topic, controller)
        for (topic, (kind, _)), (controller, _) in zip(
            rig.description.commands.items(), rig.robot._controllers, strict=True
        )
        if kind in ACTIONS
    ]
    for topic, controller in actions:
        monkeypatch.setattr(MemoryBus, "name", "rclpy")
        bus = graph.join("server")
        kind = controller.kind

        def take(data, bus=bus, controller=controller, kind=kind):
            message = bus.codec.decode(data, BODIES[kind])
            controller.q = read_goal(kind, message, len(controller.joints))

        bus.subscribe(topic, ACTIONS[kind], take)
        graph.stepped.append(bus.poll)


@pytest.mark.parametrize("robot, env", spread(PAIRS, *PAIRS[::3]))
def test_a_robot_is_found_and_follows(robot, env, monkeypatch):
    config, info = make_config(robot, env), load_robot(robot)
    graph = MemoryGraph(config.distro)
    rig = MemoryRobot(graph, robot, env=env)
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("gate"))
    serve_grippers(graph, rig, monkeypatch)
    follower = RosFollower(config, info, graph.clock)
    opened = follower.open()
    q = follower.read().q
    goal = np.clip(q + 0.05 * info.dq_max, info.q_min, info.q_max)
    for k in range(60):
        follower.write(q + (goal - q) * min(1.0, k / 20))
        for _ in range(round(400 / config.rate)):
            graph.tick()

    np.testing.assert_allclose(follower.read().q, goal, atol=5e-3)
    assert opened.has_unattended_stop != follower.goes_on_unattended
    assert ("SIMULATION" in "".join(follower.notes)) == env.endswith("_sim")
    assert not rig.log.all("refused")


def test_the_slider_of_a_teach_pendant_is_told_in_percent(monkeypatch):
    config = make_config("ur5e", "ros2")
    graph = MemoryGraph(config.distro)
    MemoryRobot(graph, "ur5e", env="ros2")
    slider = graph.join("driver").advertise(config.speed_topic, FLOAT)
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("gate"))
    follower = RosFollower(config, load_robot("ur5e"), graph.clock)
    follower.open()

    for percent in (100.0, 40.0, 41.0, 100.0):
        slider.publish(encode_float(graph.codec, percent))
        follower.read()

    told = follower.take_warnings()
    assert len(told) == 2
    assert "speed_scaling: 40 % of speed; the arm lags" in told[0]
    assert told[1].endswith("100 % of speed")
