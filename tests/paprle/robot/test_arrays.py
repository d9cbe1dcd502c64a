"""The compiled kinematics of trees, against pinocchio and the URDF itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from cells import spread

from paprle.robot import RobotModel
from paprle.robot.arrays import place_joints

ROOT = Path(__file__).resolve().parents[3]
ROBOTS = sorted(path.parent.name for path in ROOT.glob("urdf/*/robot.urdf"))


def place(tree, q):
    R, p = np.empty((len(tree.parent), 3, 3)), np.empty((len(tree.parent), 3))
    place_joints(tree, q, R, p)
    return R, p


def random_postures(low, high, n=20):
    rng = np.random.default_rng(1)
    return rng.uniform(np.maximum(low, -np.pi), np.minimum(high, np.pi), (n, len(low)))


@pytest.mark.parametrize("name", spread(ROBOTS, *ROBOTS[1::3]))
def test_limbs_are_where_pinocchio_has_them(name):
    robot = RobotModel.from_urdf(ROOT / "urdf" / name / "robot.urdf")

    for limb in robot.limbs.values():
        for q in random_postures(limb.q_min, limb.q_max):
            R, p = place(limb.tree, q)

            T = limb.fk(q)
            np.testing.assert_allclose(R[-1] @ limb.R_eef, T.rotation, atol=1e-12)
            np.testing.assert_allclose(
                p[-1] + R[-1] @ limb.p_eef, T.translation, atol=1e-12
            )


@pytest.mark.parametrize("name", spread(ROBOTS, *ROBOTS[::3]))
def test_links_of_the_whole_robot_are_where_pinocchio_has_them(name):
    path = ROOT / "urdf" / name / "robot.urdf"
    robot = RobotModel.from_urdf(path)
    model = pin.buildModelFromUrdf(str(path), mimic=False)
    data = model.createData()

    for q in random_postures(robot.q_min, robot.q_max):
        positions = dict(zip(robot.joint_names, q, strict=True))
        for mimic in robot.mimics:
            source = positions[mimic.source]
            positions[mimic.joint] = mimic.multiplier * source + mimic.offset
        q_model = pin.neutral(model)
        for joint in model.names[1:]:
            index = model.joints[model.getJointId(joint)].idx_q
            q_model[index] = positions[joint]
        pin.framesForwardKinematics(model, data, q_model)
        R, p = place(robot.tree, q)

        for link, (joint, T_joint_link) in robot.link_places.items():
            expected = data.oMf[model.getFrameId(link)]
            T_joint = pin.SE3.Identity() if joint < 0 else pin.SE3(R[joint], p[joint])
            assert (T_joint * T_joint_link).isApprox(expected, 1e-9)
