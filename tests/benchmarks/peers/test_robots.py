import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest

from benchmarks.peers.problem import Problem
from benchmarks.peers.robots import KEEP, ROOT, make_robot


@pytest.mark.parametrize("name", ["papras_7dof", "g1", "table3"])
def test_only_the_limbs_joints_move_in_the_bare_urdf(name, tmp_path):
    robot = make_robot(name, tmp_path)

    model = pin.buildModelFromUrdf(robot.problem.urdf_pin)

    joints = [joint for limb in robot.problem.limbs for joint in limb.joints]
    assert sorted(model.names[1:]) == sorted(joints)
    assert sorted(robot.problem.joint_names) == sorted(joints)


def test_a_fixed_gripper_stands_where_home_has_it(tmp_path):
    robot = make_robot("papras_7dof", tmp_path)
    whole = pin.buildModelFromUrdf(str(ROOT / "urdf/papras_7dof/robot.urdf"))

    data = whole.createData()
    q = pin.neutral(whole)
    for limb in robot.model.limbs.values():
        for joint, position in zip(limb.joint_names, limb.home, strict=True):
            q[whole.joints[whole.getJointId(joint)].idx_q] = position
    pin.framesForwardKinematics(whole, data, q)
    expected = data.oMf[whole.getFrameId("gripper_link_l2")]
    bare = pin.buildModelFromUrdf(robot.problem.urdf_pin)
    data_bare = bare.createData()
    columns = robot.problem.columns(list(bare.names[1:]))
    q_bare = np.empty(bare.nq)
    q_bare[columns] = robot.problem.home
    pin.framesForwardKinematics(bare, data_bare, q_bare)

    T = data_bare.oMf[bare.getFrameId("gripper_link_l2")]
    assert T.isApprox(expected, 1e-9)


def test_every_pair_names_two_bodies_of_the_urdf(ur5e):
    names = {c.get("name") for c in ET.parse(ur5e.problem.urdf).iter("collision")}

    assert {name for pair in ur5e.problem.pairs for name in pair} <= names
    assert len(ur5e.problem.pairs) == len(ur5e.judge.pairs)


@pytest.mark.parametrize("name", ["papras_7dof_capsules", "papras_7dof_2arm", "table4"])
def test_bodies_are_farther_apart_at_home_than_anybody_is_asked_to_keep(name, tmp_path):
    robot = make_robot(name, tmp_path)

    assert robot.judge.min_clearance(robot.model.home) > KEEP


def test_both_files_of_capsules_have_the_same_bodies(tmp_path):
    robot = make_robot("papras_7dof_capsules", tmp_path)

    model = pin.buildModelFromUrdf(robot.problem.urdf_pin)
    shapes = pin.buildGeomFromUrdf(
        model, robot.problem.urdf_pin, pin.COLLISION
    ).geometryObjects

    kinds = {type(shape.geometry).__name__ for shape in shapes}
    ours = sorted(body.shape for body in robot.judge.bodies)
    assert kinds <= {"Capsule", "Box", "Sphere"}
    assert ours.count("capsule") == sum(
        type(s.geometry).__name__ == "Capsule" for s in shapes
    )


def test_a_problem_is_read_as_it_was_written(ur5e, tmp_path):
    ur5e.problem.write(tmp_path / "problem.json")

    read = Problem.read(tmp_path / "problem.json")

    assert read.limbs[0].eef_link == ur5e.problem.limbs[0].eef_link
    assert np.array_equal(read.q_max, ur5e.problem.q_max)
