"""Every shipped robot that lives behind ROS: its topics fit it, and it is driven."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from ros_memory import MemoryGraph, MemoryRobot, make_config
from ros_rig import load_robot

from followers.ros2 import follower as module
from followers.ros2.follower import RosFollower
from paprle.ipc.process import WORKSPACE

ENVS = ("ros2", "ros1", "ros2_sim", "ros1_sim", "piper_ros")
PAIRS = sorted(
    (path.stem, env)
    for path in (WORKSPACE / "configs/follower").glob("*.yaml")
    for env in ENVS
    if env in (yaml.safe_load(path.read_text()).get("envs") or {})
)


def test_the_robots_of_the_house_are_there():
    robots = {robot for robot, _ in PAIRS}

    assert robots >= {"piper", "ur5e", "open_manipulator_x", "papras_7dof"}


@pytest.mark.parametrize("robot, env", PAIRS)
def test_a_robot_is_found_and_follows(robot, env, monkeypatch):
    config, info = make_config(robot, env), load_robot(robot)
    graph = MemoryGraph(config.distro)
    rig = MemoryRobot(graph, robot, env=env)
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("gate"))
    follower = RosFollower(config, info, graph.clock)
    opened = follower.open()
    q = follower.read().q
    goal = np.clip(q + 0.05 * info.dq_max, info.q_min, info.q_max)
    for k in range(40):
        follower.write(q + (goal - q) * min(1.0, k / 20))
        for _ in range(round(400 / config.rate)):
            graph.tick()

    np.testing.assert_allclose(follower.read().q, goal, atol=5e-3)
    assert opened.has_unattended_stop != follower.goes_on_unattended
    assert ("SIMULATION" in "".join(follower.notes)) == env.endswith("_sim")
    assert not rig.log.all("refused")
