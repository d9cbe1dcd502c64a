"""Where a robot stands that nobody has described."""

from __future__ import annotations

import numpy as np
import pytest
from arms import load_robot
from public_robots import load

from paprle.robot.discovery.home import guess_home
from paprle.testing.robots import make_robot_info


@pytest.mark.parametrize("name", ["panda", "kinova", "ur5", "tiago", "papras_2arm"])
def test_a_bare_robot_stands_apart_and_far_from_limits_and_singularities(
    name: str,
) -> None:
    robot = load(name)

    assert robot.min_clearance(robot.home) > 0.0
    for limb in robot.limbs.values():
        span = np.where(np.isinf(limb.q_max), 0.0, limb.q_max - limb.q_min)
        room = np.minimum(limb.home - limb.q_min, limb.q_max - limb.home)
        assert np.all(room >= 0.1499 * span)
        J = limb.jacobian(limb.home) * np.array([[1.0]] * 3 + [[0.2]] * 3)
        assert np.linalg.svd(J, compute_uv=False)[-1] > 0.04  # undamped


def test_a_contact_elsewhere_is_no_reason_to_have_ones_own():
    """Two bodies that touch whatever an arm does hid what the arm itself touched."""
    robot = load_robot("piper")
    k = robot.joint_names.index("joint2")

    def measure(q):  # the second pair touches but where joint2 is high
        return np.array([-0.01, q[k] - 1.2])

    home = guess_home(robot.info, robot.limbs, measure)

    assert home[k] > 1.2


def test_joints_of_no_limb_are_moved_until_nothing_touches():
    info = make_robot_info(3)

    def measure(q):
        return np.array([np.hypot(q[0] - 0.1, q[1]) - 0.6, 1.2 - abs(q[1] - q[2])])

    home = guess_home(info, {}, measure)

    assert (measure(home) > 0.0).all()
    assert home[2] == info.home[2] == 0.0, "it touches nothing, and stays"
    assert np.abs(home).max() < 1.5, "it is looked for near by"


def test_a_gripper_stays_open_even_where_it_touches():
    info = make_robot_info(2, has_gripper=True)

    home = guess_home(info, {}, lambda q: np.array([-abs(q[2])]))

    assert home.tolist() == info.home.tolist()


def test_a_search_for_homes_without_contact_is_bounded():
    info, seen = make_robot_info(3), []

    def measure(q):
        seen.append(q)
        return -np.ones(50) - abs(q[0])  # fifty pairs that touch wherever it stands

    guess_home(info, {}, measure)

    assert 400 < len(seen) < 1300


def test_many_contacts_are_parted_one_after_the_other():
    info = make_robot_info(6)

    def measure(q):  # each joint has a contact of its own
        return np.abs(q) - 0.02

    home = guess_home(info, {}, measure)

    assert (measure(home) > 0.0).all()
