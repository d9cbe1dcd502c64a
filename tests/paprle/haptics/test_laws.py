"""Which laws an arm renders, and how stiff they are at it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from feel_rig import make_settings

from paprle.contracts.types import LeaderArm
from paprle.haptics.laws import apply_factors, find_factors, make_laws

ARM = LeaderArm(
    urdf_path=Path("robot.urdf"),
    base_link="base",
    eef_link="tool",
    joint_names=("joint1",),
    gripper=None,
    R_base=np.eye(3),
    law_scale=9.0,
)


def find_weights(arm, **laws):
    made = make_laws(make_settings(**laws))
    found = apply_factors(made, find_factors(made, arm))
    return {law.name: law.weight for law in found}


def test_a_longer_arm_has_stiffer_walls_and_a_grip_like_any_other():
    found = find_weights(ARM, contact={}, gripper={}, gravity={}, damping={})

    weights = {"contact": 9.0, "gripper": 1.0, "gravity": 1.0, "damping": 1.0}
    assert found == weights


def test_an_arm_whose_driver_carries_it_is_neither_carried_nor_damped_twice():
    arm = replace(ARM, carries_itself=True)

    assert find_weights(arm, gravity={}, damping={}, wall={}) == {"wall": 9.0}


@pytest.mark.parametrize("arm", [ARM, None], ids=["long", "none"])
def test_configured_weights_stay(arm):
    found = find_weights(arm, contact={"stiffness": 4.0}, wall={"weight": 0.5})

    assert found == {"contact": 1.0, "wall": 0.5}
