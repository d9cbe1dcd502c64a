"""Soft limits are kept, and masses that no link has are told."""

from __future__ import annotations

import numpy as np
import pytest
from public_robots import PUBLIC
from shared_data import require
from small_arms import write_arm

from paprle.robot import RobotModel
from paprle.robot.urdf import read_urdf

SOFT = (
    '<safety_controller k_velocity="10" soft_lower_limit="{}" soft_upper_limit="{}"/>'
)


def doubts_of(urdf) -> str:
    return "\n".join(RobotModel.from_urdf(urdf).list_doubts())


def test_soft_limits_are_kept_and_told(tmp_path):
    urdf = write_arm(tmp_path / "arm.urdf", {2: {"more": SOFT.format(-1, 0.5)}})

    robot = RobotModel.from_urdf(urdf)

    assert (robot.q_min[1], robot.q_max[1]) == (-1.0, 0.5)
    np.testing.assert_array_equal(np.delete(robot.q_max, 1), np.full(5, 2.8))
    assert "soft limits are kept: j2 -1 … 0.5" in doubts_of(urdf)


@pytest.mark.parametrize(
    ("soft", "told"),
    [
        ('<safety_controller k_velocity="10"/>', ""),
        (SOFT.format(-9, 9), ""),
        (SOFT.format(3, 4), "lie outside its limits"),
    ],
    ids=["none", "wider", "elsewhere"],
)
def test_soft_limits_never_widen(soft, told, tmp_path):
    urdf = write_arm(tmp_path / "arm.urdf", {2: {"more": soft}})

    robot = RobotModel.from_urdf(urdf)

    assert (robot.q_min[1], robot.q_max[1]) == (-2.8, 2.8)
    assert told in doubts_of(urdf)
    assert bool(told) == bool(doubts_of(urdf))


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ({"inertia": "1e4"}, "inertia too great for the mass: link3 10000 kg m²"),
        ({"mass": "1100"}, "heavier than a link of a robot: link3 1100 kg"),
        ({"mass": "80"}, "heavier than metal of the size of their bodies: link3 80 kg"),
        ({"mass": "5", "inertia": "0.2"}, ""),
    ],
    ids=["kg mm²", "grams", "grams of a small link", "sound"],
)
def test_masses_in_another_unit_are_told(numbers, told, tmp_path):
    found = doubts_of(write_arm(tmp_path / "arm.urdf", **numbers))

    assert told in found
    assert bool(told) == bool(found)


@pytest.mark.parametrize(
    "path",
    [
        "panda_description/urdf/panda.urdf",
        "ur_description/urdf/ur5_robot.urdf",
        "xarm_description/urdf/xarm7.urdf",
        "kinova_description/robots/kinova.urdf",
        "z1_description/urdf/z1.urdf",
        "so_arm_description/urdf/so101.urdf",
    ],
)
def test_public_arms_leave_no_doubt_about_units(path):
    robot = RobotModel.from_urdf(require(PUBLIC / path))

    notes = read_urdf(PUBLIC / path).notes
    assert [doubt for doubt in robot.list_doubts() if doubt not in notes] == []
