"""One recorded motion on every robot, by config alone (acceptance 2)."""

from __future__ import annotations

import pytest
from product import find_error, need_motion, run_virtual

TRIPLE = ("leader=offline", "leader.frame=relative", "env=kinematic")


def drive(*limbs):
    """Let the one hand drive all of them."""
    pairs = ", ".join(f"{limb}: hand" for limb in limbs)
    return f"retarget.limb_map={{{pairs}}}"


ARMS = ("left_arm", "right_arm")
LEGS = ("left_leg", "right_leg")
ROBOTS = [
    pytest.param("ur5e", (), {"arm"}, id="ur5e", marks=pytest.mark.nightly),
    pytest.param(
        "papras_7dof", (), {"arm"}, id="papras_7dof", marks=pytest.mark.nightly
    ),
    pytest.param(
        "papras_7dof_2arm",
        (drive("left", "right"),),
        {"left", "right"},
        id="papras_7dof_2arm",
        marks=pytest.mark.nightly,
    ),
    pytest.param(
        "g1",
        ("retarget.scale=0.25", drive(*ARMS, *LEGS)),
        {*ARMS, *LEGS},
        id="g1",
    ),
    pytest.param("open_manipulator_x", (), {"arm"}, id="open_manipulator_x"),
    pytest.param(
        "papras_6dof", (), {"arm"}, id="papras_6dof", marks=pytest.mark.nightly
    ),
    pytest.param(
        "openmanipulator_y",
        (),
        {"arm"},
        id="openmanipulator_y",
        marks=pytest.mark.nightly,
    ),
    pytest.param(  # from home the whole rectangle leaves a PiPER's reach
        "piper_2arm",
        ("retarget.scale=0.5", drive("left", "right")),
        {"left", "right"},
        id="piper_2arm",
        marks=pytest.mark.nightly,
    ),
    pytest.param("so101", ("retarget.scale=0.5",), {"arm"}, id="so101"),
    pytest.param(
        "so100",
        ("retarget.scale=0.5",),
        {"arm"},
        id="so100",
        marks=pytest.mark.nightly,
    ),
    pytest.param(
        "so101_2arm",
        ("retarget.scale=0.5", drive("left", "right")),
        {"left", "right"},
        id="so101_2arm",
        marks=pytest.mark.nightly,
    ),
    pytest.param(
        "g1_upper",
        ("retarget.scale=0.25", drive(*ARMS)),
        set(ARMS),
        id="g1_upper",
        marks=pytest.mark.nightly,
    ),
]


@pytest.mark.parametrize(("robot", "settings", "limbs"), ROBOTS)
def test_every_limb_follows_the_same_hand(
    tmp_path, short_motion, robot, settings, limbs
):
    entry = run_virtual(
        tmp_path, *TRIPLE, f"leader.path={short_motion}", f"follower={robot}", *settings
    )

    assert entry["gate"]["violations"] == 0
    assert set(entry["limbs"]) == limbs
    for name, limb in entry["limbs"].items():
        assert find_error(limb) < 0.05, name


@pytest.mark.nightly
@pytest.mark.parametrize(("robot", "settings", "limbs"), ROBOTS)
def test_every_limb_follows_the_whole_motion(tmp_path, robot, settings, limbs):
    """Legs cannot: the hand's turns, which are not scaled, leave an ankle's range."""
    entry = run_virtual(
        tmp_path,
        *TRIPLE,
        f"leader.path={need_motion()}",
        f"follower={robot}",
        *settings,
    )

    assert entry["gate"]["violations"] == 0
    for name in limbs - {"left_leg", "right_leg"}:
        limb = entry["limbs"][name]
        assert find_error(limb) < 0.05, name
