"""URDFs of robots that others describe: those of a package, and of shared data."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from shared_data import SHARED, find_shared, require

from paprle.robot import RobotModel

PUBLIC = (
    Path(sysconfig.get_paths()["purelib"])
    / "cmeel.prefix/share/example-robot-data/robots"
)
ROBOTS = {
    "panda": PUBLIC / "panda_description/urdf/panda.urdf",  # mimic
    "kinova": PUBLIC / "kinova_description/robots/kinova.urdf",  # continuous
    "pr2": PUBLIC / "pr2_description/urdf/pr2.urdf",  # continuous and mimic
    "ur5": PUBLIC / "ur_description/urdf/ur5_robot.urdf",
    "talos": PUBLIC / "talos_data/robots/talos_full_v2.urdf",
    "tiago": PUBLIC / "tiago_description/robots/tiago_no_hand.urdf",
    "anymal": PUBLIC / "anymal_b_simple_description/robots/anymal.urdf",
    "g1": SHARED / "urdf/g1_29dof.urdf",
    "papras_2arm": SHARED / "urdf/papras_7dof_2arm_table.urdf",
}


def load(name: str) -> RobotModel:
    """Return one of them; skip a test where it is not here."""
    if ROBOTS[name].is_relative_to(SHARED):
        find_shared(ROBOTS[name].relative_to(SHARED))
    return RobotModel.from_urdf(require(ROBOTS[name]))
