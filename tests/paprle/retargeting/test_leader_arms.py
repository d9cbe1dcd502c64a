"""Leaders that are arms: which mode they get, and the poses of their hands."""

from __future__ import annotations

import re

import numpy as np
import pinocchio as pin
import pytest
from retargeting import ROOT, load_robot, make, view_of

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import (
    GripperInfo,
    LeaderArm,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
)
from paprle.retargeting.leader_arms import ArmPoses, load_arms

TURNED = pin.rpy.rpyToMatrix(0.3, -0.2, 1.1)


def scaled_urdf(name, scale, folder):
    """A smaller copy of a robot: all offsets scaled, angles as they are."""
    text = (ROOT / f"urdf/{name}/robot.urdf").read_text()

    def shrink(match):
        values = [f"{scale * float(x):.9g}" for x in match[1].split()]
        return f'<origin xyz="{" ".join(values)}"'

    path = folder / f"{name}.urdf"
    path.write_text(re.sub(r'<origin xyz="([^"]*)"', shrink, text))
    return path


def arm_leader(name, limbs=("left",), path=None, R_base=None):
    """A leader made of arms of one robot, each limb its first one."""
    limb = next(iter(load_robot(name).limbs.values()))
    arm = LeaderArm(
        urdf_path=path or ROOT / f"urdf/{name}/robot.urdf",
        base_link=limb.base_link,
        eef_link=limb.eef_link,
        joint_names=limb.joint_names,
        gripper=GripperInfo(joint="trigger", closed=0.0, open=0.8),
        R_base=np.eye(3) if R_base is None else R_base,
    )
    return LeaderInfo(
        limbs=limbs,
        emits="joints",
        joint_names=dict.fromkeys(limbs, arm.joint_names),
        has_gripper=True,
        renders="torque",
        arms=dict.fromkeys(limbs, arm),
    )


def test_a_scaled_down_copy_drives_joint_by_joint(tmp_path):
    path = scaled_urdf("papras_7dof", 0.4, tmp_path)
    leader = arm_leader("papras_7dof", ("left", "right"), path)

    retargeting = make("papras_7dof_2arm", leader)

    pairs = retargeting.pairing.limbs
    assert retargeting.pairing.rules == {"joints"}
    assert "joint by joint (built alike)" in retargeting.describe()
    drivers = {name: pair.sources[0].leader_limb for name, pair in pairs.items()}
    assert drivers == {"left": "left", "right": "right"}
    assert [s.index for s in pairs["right"].sources[0].joints] == list(range(7))


@pytest.mark.parametrize(
    ("leader", "robot", "why"),
    [
        ("ur5e", "papras_7dof", "6 joints against 7"),
        ("ur5e", "piper", "different axes|lies elsewhere"),
        ("piper", "ur5e", "different axes|lies elsewhere"),
        ("open_manipulator_x", "piper", "4 joints against 6"),
    ],
)
def test_an_arm_of_another_build_drives_by_its_pose(leader, robot, why):
    retargeting = make(robot, arm_leader(leader, ("hand",)))

    assert retargeting.pairing.rules == {"relative"}
    assert re.search(why, retargeting.describe()), retargeting.describe()


def test_the_mode_of_a_leader_that_is_an_arm_can_be_chosen():
    leader = arm_leader("papras_7dof")

    for mode in ("relative", "joints"):
        assert make("papras_7dof", leader, mode=mode).pairing.rules == {mode}
    with pytest.raises(ConfigError, match="expected 7 joints in leader limb 'left'"):
        make("papras_7dof", arm_leader("ur5e"), mode="joints")


@pytest.mark.parametrize("name", ["papras_7dof", "ur5e", "piper"])
def test_the_arms_pose_is_that_of_its_own_urdf_in_the_operators_axes(name):
    leader = arm_leader(name, ("left", "right"), R_base=TURNED)
    limb = next(iter(load_robot(name).limbs.values()))
    rng = np.random.default_rng(3)
    q = rng.uniform(-1.0, 1.0, (2, len(limb.joint_names)))
    commands = {"left": LimbCommand(q=q[0]), "right": LimbCommand(q=q[1])}
    view = view_of(leader, LeaderSample(stamp_ns=0, seq=0, limbs=commands))

    ArmPoses(leader, load_arms(leader)).place(view)

    for row in range(2):
        T = pin.SE3(TURNED, np.zeros(3)) * limb.fk(q[row])
        found = pin.XYZQUATToSE3(view.pose[row])
        assert pin.log6(T.actInv(found)).vector == pytest.approx(np.zeros(6), abs=1e-9)


def test_joints_that_are_missing_give_no_pose():
    leader = arm_leader("ur5e", ("left", "right"))
    commands = {"left": LimbCommand(q=np.zeros(6))}
    view = view_of(leader, LeaderSample(stamp_ns=0, seq=0, limbs=commands))

    ArmPoses(leader, load_arms(leader)).place(view)

    assert np.isfinite(view.pose[0]).all()
    assert np.isnan(view.pose[1]).all()


def test_a_leader_without_its_urdf_is_refused(tmp_path):
    leader = arm_leader("ur5e", path=tmp_path / "missing.urdf")

    with pytest.raises(ConfigError, match=r"leader.limbs.left: .*missing.urdf"):
        make("ur5e", leader)
