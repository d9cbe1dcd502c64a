"""URDFs as public reports describe them, and others of the same kinds."""

from __future__ import annotations

import re

import pytest
from dry_runs import Cases, read_rows
from small_arms import write_arm

CASES = Cases()
case = CASES.add
SOFT = (
    '<safety_controller k_position="0" k_velocity="0" soft_lower_limit="0" '
    'soft_upper_limit="0"/>'
)


def drive(path):
    return ["leader=autopilot", f"follower={path}"]


def write(folder, joints=None, **more):
    return drive(write_arm(folder / "arm.urdf", joints, **more))


def replace(folder, pattern, text, count=1):
    """Write the arm with a change in its text."""
    path = write_arm(folder / "arm.urdf")
    changed, n = re.subn(pattern, text, path.read_text(), count=count)
    assert n
    path.write_text(changed)
    return drive(path)


@case("AlphaDogDeveloper/dev_robot_control_sdk#30", "refused", "ixx", "at least 0")
def negative_moments(folder):
    return write(folder, inertia="-0.00121 -0.0012 0.0003", mass="0.527")


@case("robotology/icub-models#269", "reported", "CHECK:", "inertia too small")
def leg_without_inertia(folder):
    return write(folder, inertia="4.1e-18", mass="2.175")


@case("google-deepmind/mujoco#375", "reported", "CHECK:", "moments that no body has")
def moment_greater_than_the_sum_of_the_others(folder):
    return write(folder, inertia="1.486e-03 2e-04 8.31e-04", mass="1")


@case("ros-industrial/motoman#29", "handled", "arm, relative")
def soft_limits_of_zero(folder):
    return write(folder, {0: {"more": SOFT}})


@case("dfki-ric/phobos#37", "reported", "CHECK:", "degrees")
def limit_of_ninety_radians(folder):
    return write(folder, {2: {"lower": "0", "upper": "90"}})


@case("lbr-stack/lbr_fri_ros2_stack#35", "reported", "CHECK:", "98 is no limit")
def velocity_limit_in_degrees(folder):
    return write(folder, {0: {"velocity": "98"}})


@case("gazebosim/sdformat#1275", "refused", "expected lower < upper")
def lower_limit_above_the_upper_one(folder):
    return write(folder, {3: {"lower": "2.8", "upper": "-2.8"}})


@case("own", "reported", "CHECK:", "tonnes")
def masses_in_tonnes(folder):
    return replace(folder, '<mass value="1"/>', '<mass value="0.001"/>', count=0)


@case("own", "reported", "CHECK:", "without a mass")
def moving_link_of_no_mass(folder):
    return write(folder, mass="0")


@case("own", "reported", "CHECK:", "millimetres")
def origins_in_millimetres(folder):
    return replace(folder, 'xyz="0 0 0.15"', 'xyz="0 0 150"', count=0)


@case("own", "refused", "axis", "expected a direction")
def axis_of_zero(folder):
    return replace(folder, '<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>')


@case("own", "reported", "CHECK:", "kg mm²")
def inertia_longer_than_the_robot(folder):
    return write(folder, inertia="20", mass="3")


@pytest.mark.parametrize("name", CASES)
def test_an_input_leads_to_what_the_page_says(name, tmp_path, capsys):
    CASES.check(name, tmp_path, capsys)


def test_the_page_lists_these_inputs():
    assert read_rows("test_descriptions") == CASES.list_rows()


def test_the_plain_arm_leaves_no_doubt(tmp_path, capsys):
    plain = Cases()
    plain.add("own", "handled", "arm, relative")(write)

    plain.check("write", tmp_path, capsys)
