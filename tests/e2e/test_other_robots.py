"""One recorded motion on every robot, by config alone (acceptance 2)."""

from __future__ import annotations

import pytest
from product import need_motion, run_virtual

TRIPLE = ("leader=offline", "leader.frame=relative", "env=kinematic")
ROBOTS = [
    pytest.param("ur5e", (), {"arm"}, id="ur5e"),
    pytest.param("papras_7dof", (), {"arm"}, id="papras_7dof"),
    pytest.param("papras_7dof_2arm", (), {"left", "right"}, id="papras_7dof_2arm"),
    pytest.param(
        "g1",
        ("retarget.scale=0.25",),
        {"left_arm", "right_arm", "left_leg", "right_leg"},
        id="g1",
    ),
    pytest.param("open_manipulator_x", (), {"arm"}, id="open_manipulator_x"),
    pytest.param("papras_6dof", (), {"arm"}, id="papras_6dof"),
    pytest.param("openmanipulator_y", (), {"arm"}, id="openmanipulator_y"),
    pytest.param(  # from home the whole rectangle leaves a PiPER's reach
        "piper_2arm", ("retarget.scale=0.5",), {"left", "right"}, id="piper_2arm"
    ),
    pytest.param(
        "g1_upper",
        ("retarget.scale=0.25",),
        {"left_arm", "right_arm"},
        id="g1_upper",
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
        assert limb["ate_mm"]["lag_compensated"]["median"] < 0.05, name


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
        assert limb["ate_mm"]["lag_compensated"]["median"] < 0.05, name
