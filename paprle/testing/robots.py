"""Robot description with chosen limits and no URDF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import GripperInfo, LimbInfo, RobotInfo, readonly


def make_robot_info(  # noqa: PLR0913 - limits have names, and all are optional
    n_joints: int = 6,
    *,
    q_min: npt.ArrayLike = -2.0,
    q_max: npt.ArrayLike = 2.0,
    dq_max: npt.ArrayLike = 2.0,
    ddq_max: npt.ArrayLike = 10.0,
    dddq_max: npt.ArrayLike | None = None,
    home: npt.ArrayLike = 0.0,
    n_limbs: int = 1,
    has_gripper: bool = False,
) -> RobotInfo:
    """Return a robot of equal limbs; ``urdf_path`` names no file.

    Limits are a number or shape (n,), in [rad], [rad/s], [rad/s²] and [rad/s³].
    """
    names: list[str] = []
    limbs = []
    for number in range(n_limbs):
        joints = tuple(f"limb{number}_joint{i}" for i in range(n_joints))
        gripper = None
        names += joints
        if has_gripper:
            names.append(f"limb{number}_gripper")
            gripper = GripperInfo(joint=names[-1], closed=0.0, open=1.0)
        limbs.append(
            LimbInfo(
                name=f"limb{number}",
                base_link="base",
                eef_link=f"limb{number}_eef",
                joint_names=joints,
                gripper=gripper,
            )
        )
    shape = (len(names),)
    return RobotInfo(
        name="test_robot",
        urdf_path=Path("nowhere.urdf"),
        joint_names=tuple(names),
        q_min=readonly(np.broadcast_to(q_min, shape)),
        q_max=readonly(np.broadcast_to(q_max, shape)),
        dq_max=readonly(np.broadcast_to(dq_max, shape)),
        ddq_max=readonly(np.broadcast_to(ddq_max, shape)),
        home=readonly(np.broadcast_to(home, shape)),
        limbs=tuple(limbs),
        dddq_max=None
        if dddq_max is None
        else readonly(np.broadcast_to(dddq_max, shape)),
    )
