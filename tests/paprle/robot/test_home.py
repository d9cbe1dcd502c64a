"""Where a robot stands that nobody has described."""

from __future__ import annotations

import numpy as np
import pytest
from public_robots import load


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
