"""Bodies of Franka's arms against the maker's list of links that never touch."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.ipc.process import WORKSPACE
from paprle.robot import RobotModel

NEVER = (
    (0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 4), (2, 6), (3, 5), (3, 6), (3, 7),
    (4, 6), (4, 7), (5, 7),
)  # fmt: skip  # spec: franka_description, robots/common/franka_arm.srdf.xacro
N = 1000  # postures
SHARE = 0.01  # chosen: of postures that the coarse bodies may rule out at their edge


@pytest.mark.parametrize("follower", ["fr3", "fr3_2f85", "panda"])
def test_links_that_never_touch_rule_out_no_range(follower):
    robot = RobotModel.from_yaml(WORKSPACE / f"configs/follower/{follower}.yaml")
    never = [{f"link{a}", f"link{b}"} for a, b in NEVER]
    rng = np.random.default_rng(0)
    n_ruled_out = 0
    for q in rng.uniform(robot.q_min, robot.q_max, (N, len(robot.q_min))):
        found = robot.find_collisions(q)
        n_ruled_out += any(set(pair) in never for pair in found)

    assert n_ruled_out <= SHARE * N


@pytest.mark.parametrize("follower", ["fr3", "panda"])
def test_a_hand_at_the_base_still_collides(follower):
    robot = RobotModel.from_yaml(WORKSPACE / f"configs/follower/{follower}.yaml")
    rng = np.random.default_rng(0)
    postures = rng.uniform(robot.q_min, robot.q_max, (N, len(robot.q_min)))

    found = {pair for q in postures for pair in robot.find_collisions(q)}

    assert {"link0", "hand"} in map(set, found)
    assert {"link1", "link6"} in map(set, found)
