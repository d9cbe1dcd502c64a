"""What docs/ros2.md says of a robot nobody knows, done word by word."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import yaml
from ros_memory import MemoryGraph, MemoryRobot

from paprle.config import resolve
from paprle.followers.ros2 import follower as module
from paprle.followers.ros2.follower import RosFollower
from paprle.ipc.process import WORKSPACE
from paprle.robot import RobotModel
from paprle_lab.onboarding.new_robot import write_new_robot

JOINT = """
<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{xyz}"/><axis xyz="{axis}"/>
  <limit lower="{lower}" upper="{upper}" velocity="2" effort="20"/></joint>
<link name="{child}"><inertial><mass value="0.5"/>
  <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
"""


NAMES = (
    [f"joint{i}" for i in range(1, 7)],
    [f"joint{i}" for i in range(1, 8)],  # xArm 7
    [f"joint_{i}" for i in range(1, 8)],  # Gen3
    [f"fr3_joint{i}" for i in range(1, 8)],
)


def write_urdf(path, names=NAMES[0], *, has_finger=True):
    """Write some joints, and perhaps a finger, of no robot that there is."""
    text, parent = "", "base_link"
    axes = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0", "0 1 0")
    for i, (name, axis) in enumerate(zip(names, axes, strict=False), 1):
        text += JOINT.format(
            name=name, kind="revolute", parent=parent, child=f"link{i}",
            xyz="0.05 0 0.15", axis=axis, lower=-2.5, upper=2.5,
        )  # fmt: skip
        parent = f"link{i}"
    if has_finger:
        text += JOINT.format(
            name="joint7", kind="prismatic", parent=parent, child="gripper_finger",
            xyz="0.1 0 0", axis="0 1 0", lower=0.0, upper=0.04,
        )  # fmt: skip
    path.write_text(f'<robot name="strange"><link name="base_link"/>{text}</robot>')


def read_blocks():
    """Return the YAML blocks of the page, in order."""
    text = (WORKSPACE / "docs/ros2.md").read_text()
    blocks = [part.partition("```")[0] for part in text.split("```yaml")[1:]]
    return [yaml.safe_load(block)["envs"]["ros2"] for block in blocks]


@pytest.mark.parametrize("k", range(len(NAMES)), ids=["ten", "xarm7", "gen3", "fr3"])
def test_a_block_of_the_page_connects_a_robot_that_nobody_knew(
    tmp_path, monkeypatch, k
):
    folder = tmp_path / "configs/follower"
    folder.mkdir(parents=True)
    shutil.copytree(WORKSPACE / "configs/env", tmp_path / "configs/env")
    write_urdf(tmp_path / "strange.urdf", NAMES[k], has_finger=k == 0)
    write_new_robot(tmp_path / "strange.urdf", folder, "strange")
    path = folder / "strange.yaml"
    tree = yaml.safe_load(path.read_text())
    tree["envs"]["ros2"] = read_blocks()[k]
    path.write_text(yaml.safe_dump(tree))

    words = ["leader=autopilot", "follower=strange", "env=ros2"]
    resolved = resolve(words, tmp_path)
    robot = RobotModel.from_settings(resolved.robot, "strange", tmp_path).info
    graph = MemoryGraph(resolved.env.distro)
    rig = MemoryRobot(graph, str(path), env="ros2")
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("gate"))
    follower = RosFollower(resolved.env, robot, graph.clock)
    info = follower.open()
    q = follower.read().q
    goal = np.clip(q + 0.05, robot.q_min, robot.q_max)
    for i in range(60):
        follower.write(q + (goal - q) * min(1.0, i / 40))
        for _ in range(round(400 / resolved.env.rate)):
            graph.tick()

    assert info.has_unattended_stop
    assert info.power_off == ("brakes" if k in {0, 3} else "falls")
    assert ("gripper" in rig.description.joints) == (k == 0)
    np.testing.assert_allclose(follower.read().q, goal, atol=5e-3)
    assert not follower.read().stop_reason
    assert not rig.log.all("refused")


def test_the_page_has_a_block_for_each_robot_here():
    assert len(read_blocks()) == len(NAMES)
