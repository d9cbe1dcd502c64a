"""Soft limits are kept, and masses that no link has are told."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from public_robots import PUBLIC
from shared_data import require
from small_arms import write_arm

from paprle.contracts.errors import ConfigError
from paprle.ipc.process import WORKSPACE
from paprle.robot import RobotModel
from paprle.robot.discovery.masses import list_mass_doubts
from paprle.robot.urdf import read_urdf

SOFT = (
    '<safety_controller k_velocity="10" soft_lower_limit="{}" soft_upper_limit="{}"/>'
)

WRONG = {  # of example-robot-data: no triangle, negative, none, 1 kg m² for 0.4 kg
    "allegro_left_hand.urdf", "allegro_right_hand.urdf",
    "icub.urdf", "icub_reduced.urdf", "romeo_laas_small.urdf", "romeo_small.urdf",
    "simple_humanoid.urdf", "simple_humanoid_classical.urdf",
}  # fmt: skip


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
        ({"inertia": "1e4"}, "inertia too great for the mass: link3 1e+04 1e+04 1e"),
        ({"mass": "3", "inertia": "20"}, "inertia too great for the mass: link3 20 20"),
        ({"mass": "3", "inertia": "1e-12"}, "inertia too small for the mass, "),
        ({"inertia": "0.01 0.01 0.03"}, "moments that no body has, "),
        ({"inertia": "0.01 0.01 0.02"}, ""),
        ({"mass": "0.0012"}, "of the size of their bodies: link3 0.0012 kg; are these"),
        ({"mass": "0"}, "moving bodies without a mass: link3 0 kg"),
        ({"mass": "1100"}, "heavier than a link of a robot: link3 1100 kg"),
        ({"mass": "80"}, "heavier than metal of the size of their bodies: link3 80 kg"),
        ({"mass": "5", "inertia": "0.2"}, ""),
    ],
    ids=[
        "kg mm²",
        "longer than the robot",
        "point",
        "no triangle",
        "flat",
        "tonnes",
        "none",
        "grams",
        "grams of a small link",
        "sound",
    ],
)
def test_masses_in_another_unit_are_told(numbers, told, tmp_path):
    found = doubts_of(write_arm(tmp_path / "arm.urdf", **numbers))

    assert told in found
    assert bool(told) == bool(found)


def test_a_negative_moment_is_refused(tmp_path):
    urdf = write_arm(tmp_path / "arm.urdf", inertia="0.01 -0.01 0.01")

    with pytest.raises(ConfigError, match="link3: iyy: expected at least 0 kg m², got"):
        read_urdf(urdf)


def test_all_six_moments_count(tmp_path):
    urdf = write_arm(tmp_path / "arm.urdf")
    urdf.write_text(urdf.read_text().replace('ixz="0"', 'ixz="0.02"'))

    moments = read_urdf(urdf).inertias["link3"].find_moments()

    np.testing.assert_allclose(moments, [-0.01, 0.01, 0.03])
    assert "moments that no body has" in doubts_of(urdf)


@pytest.mark.parametrize(
    "robot", sorted(p.name for p in (WORKSPACE / "urdf").iterdir())
)
def test_robots_of_this_repository_leave_no_doubt_about_masses(robot):
    urdf = read_urdf(WORKSPACE / "urdf" / robot / "robot.urdf")

    assert list(list_mass_doubts(urdf)) == []


@pytest.mark.long
def test_public_robots_whose_inertias_are_in_doubt_are_these():
    files = sorted(PUBLIC.rglob("*.urdf"))
    if not files:
        pytest.skip(f"{PUBLIC} is not here")
    found = set()
    for file in files:
        with contextlib.suppress(ConfigError):
            found |= {file.name} if list(list_mass_doubts(read_urdf(file))) else set()

    assert found <= WRONG


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
