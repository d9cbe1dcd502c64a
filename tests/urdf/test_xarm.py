"""UFACTORY's arms against their maker's tables: kinematics, limits."""

import numpy as np
import pinocchio as pin
import pytest
from piper_rig import load

from paprle.ipc.process import WORKSPACE
from paprle_emulators.xarm.models import MODELS


@pytest.mark.parametrize("name", MODELS)
def test_kinematics_equal_the_published_dh_table(name):
    table = MODELS[name]
    model = pin.buildModelFromUrdf(str(WORKSPACE / f"urdf/{name}/robot.urdf"))
    data, flange = model.createData(), model.getFrameId("link_eef")
    low, high = np.radians(table.limits).T
    rng = np.random.default_rng(1)

    for q in rng.uniform(low, high, (50, table.axis)):
        full = pin.neutral(model)
        full[: table.axis] = q
        pin.framesForwardKinematics(model, data, full)

        published = table.compute_frames(q)[-1]

        found = data.oMf[flange].homogeneous
        assert np.abs(found[:3, 3] - published[:3, 3]).max() < 1e-7  # [m]
        assert np.abs(found[:3, :3] - published[:3, :3]).max() < 1e-7


@pytest.mark.parametrize("name", MODELS)
def test_limits_are_the_published_ones(name):
    robot, table = load(name, "follower.limits.velocity_scale=1"), MODELS[name]

    low, high = np.radians(table.limits).T

    n = table.axis
    assert robot.q_min[:n] == pytest.approx(low, abs=1e-6)
    assert robot.q_max[:n] == pytest.approx(high, abs=1e-6)
    assert robot.dq_max[:n] == pytest.approx(np.pi, abs=1e-6)
