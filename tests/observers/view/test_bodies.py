"""Shapes come from the URDF, whatever of it is there."""

from dataclasses import replace

import numpy as np
import pytest

from paprle.config import resolve
from paprle.hosts.plan import make_robot
from paprle.observers.view.drawing.bodies import Robot

ARM = """\
<robot name="arm">
  <link name="base"/>
  <link name="upper">{shapes}</link>
  <link name="hand"/>
  <joint name="j1" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.2"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
  <joint name="j2" type="revolute"><parent link="upper"/><child link="hand"/>
    <origin xyz="0.3 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
</robot>
"""
MESH = '<visual><geometry><mesh filename="package://no/such.stl"/></geometry></visual>'
BALL = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'


def make_info(tmp_path, shapes):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.format(shapes=shapes))
    piper = make_robot(
        resolve(["leader=autopilot", "follower=piper", "env=kinematic"])
    ).info
    home = np.zeros(2)
    return replace(
        piper, urdf_path=path, joint_names=("j1", "j2"), home=home, mimics=()
    )


def test_shapes_of_contact_stand_for_missing_meshes(tmp_path):
    robot = Robot(make_info(tmp_path, MESH + BALL))

    assert len(robot.bodies) == 1
    assert np.ptp(robot.bodies[0].vertices[:, 2]) == pytest.approx(0.2, rel=0.02)
    assert "shapes of contact in place of" in robot.note


def test_sticks_stand_for_a_robot_without_shapes(tmp_path):
    robot = Robot(make_info(tmp_path, ""))

    assert [body.joint for body in robot.bodies] == [0, 1]
    assert robot.note == ""


def test_shapes_move_with_their_joints(tmp_path):
    robot = Robot(make_info(tmp_path, BALL))

    before = robot.move(np.array([0.0, 0.0]))[2].translation
    after = robot.move(np.array([np.pi / 2, 0.0]))[2].translation

    assert before == pytest.approx([0.3, 0.0, 0.2])
    assert after == pytest.approx([0.0, 0.3, 0.2])


def test_a_finger_that_mimics_another_moves_too():
    info = make_robot(
        resolve(["leader=autopilot", "follower=piper", "env=kinematic"])
    ).info
    robot = Robot(info)
    closed, opened = info.home.copy(), info.home.copy()
    opened[info.joint_names.index("joint7")] += 0.02
    index = robot.joint_names.index("joint8")

    moved = (
        robot.move(opened)[index].translation - robot.move(closed)[index].translation
    )

    assert np.linalg.norm(moved) == pytest.approx(0.02)
