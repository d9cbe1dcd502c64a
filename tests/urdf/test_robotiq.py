"""Arms with a Robotiq 2F-85: each the arm's own figures, then one gripper's."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest
from piper_rig import load

from paprle.ipc.process import WORKSPACE

ARMS = {
    "ur5e_2f85": ("ur5e", "tool0", 0.0),
    "xarm7_2f85": ("xarm7", "link_eef", 0.0),
    "fr3_2f85": ("fr3", "link8", -np.pi / 4),
}
"""By follower: its arm, the arm's flange, and the gripper's turn about it, [rad]."""
TIP = 0.163  # [m] spec: Robotiq's instruction manual, fingers closed
MASS = 0.925  # [kg] spec: there, with the coupling
FIX = ("joint", "gripper_fix")
GRIPPER = frozenset(
    [("link", name) for name in ("gripper_base", "gripper_tcp", "finger1", "finger2")]
    + [("joint", name) for name in ("gripper_tcp_fix", "finger1_joint")]
    + [("joint", "finger2_joint"), FIX]
)


def read_parts(name):
    root = ET.parse(WORKSPACE / f"urdf/{name}/robot.urdf").getroot()
    return {
        (part.tag, part.get("name")): ET.canonicalize(
            ET.tostring(part), strip_text=True
        )
        for part in root
    }


@pytest.mark.parametrize("name", ARMS)
def test_below_the_flange_it_is_the_arm_alone(name):
    arm, flange, _ = ARMS[name]
    joined, own = read_parts(name), read_parts(arm)

    kept = {key: text for key, text in joined.items() if key not in GRIPPER}

    assert kept.items() <= own.items()
    assert ("link", flange) in kept
    (limb,) = load(arm).limbs
    assert {("joint", joint) for joint in limb.joint_names} <= kept.keys()


@pytest.mark.parametrize("name", ARMS)
def test_the_gripper_is_the_same_at_each(name):
    joined, first = read_parts(name), read_parts("ur5e_2f85")

    assert joined.keys() >= GRIPPER
    assert all(joined[key] == first[key] for key in GRIPPER - {FIX})


@pytest.mark.parametrize("name", ARMS)
def test_closed_fingers_end_on_the_axis_of_the_flange(name):
    arm, flange, turn = ARMS[name]
    model = pin.buildModelFromUrdf(str(WORKSPACE / f"urdf/{name}/robot.urdf"))
    data = model.createData()
    q = pin.randomConfiguration(model)

    pin.framesForwardKinematics(model, data, q)

    at = {one: data.oMf[model.getFrameId(one)] for one in (flange, "gripper_tcp")}
    found = at[flange].actInv(at["gripper_tcp"])
    assert found.translation == pytest.approx([0.0, 0.0, TIP])
    assert found.rotation == pytest.approx(pin.rpy.rpyToMatrix(0.0, 0.0, turn))
    hand = [one for one in read_parts(name) if one in GRIPPER and one[0] == "link"]
    bodies = ET.parse(WORKSPACE / f"urdf/{name}/robot.urdf").getroot()
    masses = [
        float(link.find("inertial/mass").get("value"))
        for link in bodies.findall("link")
        if ("link", link.get("name")) in hand and link.find("inertial") is not None
    ]
    assert sum(masses) == pytest.approx(MASS)


@pytest.mark.parametrize("name", ARMS)
def test_the_arm_moves_within_its_own_limits(name):
    joined, own = load(name), load(ARMS[name][0])
    n = len(joined.limbs[0].joint_names)

    for limit in ("q_min", "q_max", "dq_max", "ddq_max", "dddq_max"):
        theirs = getattr(own, limit)
        assert getattr(joined, limit)[:n] == pytest.approx(theirs[:n]), limit
