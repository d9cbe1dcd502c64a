"""Limbs that are each other's image stand so."""

from __future__ import annotations

import numpy as np
import pytest
from public_robots import load

from paprle.robot.arrays import place_joints
from paprle.robot.mirror import find_twins


@pytest.mark.parametrize("name", ["talos", "pr2"])
def test_left_and_right_stand_as_each_others_image(name):
    robot = load(name)

    twins = find_twins(robot.tree, list(robot.limbs.values()))
    assert twins
    for one, (other, signs) in twins.items():
        limb = robot.limbs[one]
        assert other.home == pytest.approx(signs * limb.home)
        places = []
        for own in (limb, other):
            joint, T_joint_tool = robot.link_places[own.eef_link]
            places.append(find_place(robot, joint, T_joint_tool))
        assert places[1] == pytest.approx(places[0] * [1.0, -1.0, 1.0], abs=5e-3)


def find_place(robot, joint, T_joint_tool):
    m = len(robot.tree.parent)
    R, p = np.empty((m, 3, 3)), np.empty((m, 3))
    place_joints(robot.tree, robot.home, R, p)
    return p[joint] + R[joint] @ T_joint_tool.translation


def test_an_arm_alone_has_no_image():
    robot = load("panda")

    assert find_twins(robot.tree, list(robot.limbs.values())) == {}
