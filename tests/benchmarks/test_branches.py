"""The posture chosen follows as much of a path as any that brute force finds."""

from __future__ import annotations

import numpy as np
import pytest
from cells import spread

from benchmarks.branches import SAME, judge, make_motion
from paprle.config import resolve
from paprle.hosts.plan import make_robot


@pytest.mark.long
@pytest.mark.parametrize("name", spread(["piper", "ur5e", "papras_6dof"], "ur5e"))
@pytest.mark.parametrize("seed", spread([101, 102], 101))
def test_the_posture_chosen_follows_as_much_as_the_best(name, seed):
    robot = make_robot(
        resolve([f"follower={name}", "env=kinematic", "leader=autopilot"])
    )
    rng = np.random.default_rng(seed)
    path = make_motion(next(iter(robot.limbs.values())), rng)

    found = judge(robot, path, rng)

    assert found.best > 0.0
    assert found.chosen >= found.best - SAME
