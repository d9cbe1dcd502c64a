"""What docs/ros2.md says of a robot nobody knows, done word by word."""

from __future__ import annotations

import shutil

import numpy as np
import yaml
from ros_memory import MemoryGraph, MemoryRobot

from followers.ros2 import follower as module
from followers.ros2.follower import RosFollower
from paprle.config import resolve
from paprle.ipc.process import WORKSPACE
from paprle.onboarding.new_robot import write_new_robot
from paprle.robot import RobotModel

JOINT = """
<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{xyz}"/><axis xyz="{axis}"/>
  <limit lower="{lower}" upper="{upper}" velocity="2" effort="20"/></joint>
<link name="{child}"><inertial><mass value="0.5"/>
  <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
"""


def write_urdf(path):
    """Six joints and a finger, of no robot that there is."""
    text, parent = "", "base_link"
    for i, axis in enumerate(("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0"), 1):
        text += JOINT.format(
            name=f"joint{i}", kind="revolute", parent=parent, child=f"link{i}",
            xyz="0.05 0 0.15", axis=axis, lower=-2.5, upper=2.5,
        )  # fmt: skip
        parent = f"link{i}"
    text += JOINT.format(
        name="joint7", kind="prismatic", parent=parent, child="gripper_finger",
        xyz="0.1 0 0", axis="0 1 0", lower=0.0, upper=0.04,
    )  # fmt: skip
    path.write_text(f'<robot name="strange"><link name="base_link"/>{text}</robot>')


def read_block():
    text = (WORKSPACE / "docs/ros2.md").read_text()
    begin = text.index("```yaml") + len("```yaml")
    return yaml.safe_load(text[begin : text.index("```", begin)])["envs"]["ros2"]


def test_ten_lines_connect_a_robot_that_nobody_knew(tmp_path, monkeypatch):
    folder = tmp_path / "configs/follower"
    folder.mkdir(parents=True)
    shutil.copytree(WORKSPACE / "configs/env", tmp_path / "configs/env")
    write_urdf(tmp_path / "strange.urdf")
    write_new_robot(tmp_path / "strange.urdf", folder, "strange")
    path = folder / "strange.yaml"
    tree = yaml.safe_load(path.read_text())
    tree["envs"]["ros2"] = read_block()
    path.write_text(yaml.safe_dump(tree))

    words = ["leader=autopilot", "follower=strange", "env=ros2"]
    resolved = resolve(words, tmp_path)
    robot = RobotModel.from_settings(resolved.robot, "strange", tmp_path).info
    graph = MemoryGraph()
    rig = MemoryRobot(graph, str(path))
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("gate"))
    follower = RosFollower(resolved.env, robot, graph.clock)
    info = follower.open()
    q = follower.read().q
    goal = np.clip(q + 0.05, robot.q_min, robot.q_max)
    for k in range(60):
        follower.write(q + (goal - q) * min(1.0, k / 40))
        graph.tick()
        graph.tick()

    assert info.has_unattended_stop
    assert info.power_off == "brakes"
    assert "gripper" in rig.description.joints
    np.testing.assert_allclose(follower.read().q, goal, atol=5e-3)
    assert not follower.read().stop_reason
