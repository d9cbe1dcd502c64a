"""Leaders that are arms: alike limbs drive joint by joint, others by pose.

Source: PAPRLE section III; requirements P7, P8, P32.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import LimbSettings
from paprle.contracts.types import LeaderArm, LeaderInfo, Vec
from paprle.ipc.records import SampleView
from paprle.robot import RobotModel
from paprle.robot.arrays import place_joints
from paprle.robot.chain import Limb
from paprle.robot.eefs import place_eefs

_AXES = np.cos(np.radians(10.0))  # chosen: axes of joints of equal structure
_OFFSETS = 0.2  # chosen: share of the arm's size; copies have up to 0.11, others 0.6


def load_arms(leader: LeaderInfo, through: RobotModel | None = None) -> dict[str, Limb]:
    """Return the limb of each leader arm, or that of ``through``.

    Raises:
        ConfigError: With all problems of URDFs, or if limbs are built differently.
    """
    arms: dict[str, Limb] = {}
    problems: list[str] = []
    for name, arm in leader.arms.items():
        try:
            arms[name] = _load_arm(arm)
        except ConfigError as err:
            problems += [f"leader.limbs.{name}: {text}" for text in err.problems]
    if problems:
        raise ConfigError(problems)
    return arms if through is None else _replace(arms, through)


def _replace(arms: Mapping[str, Limb], robot: RobotModel) -> dict[str, Limb]:
    found, problems = dict[str, Limb](), list[str]()
    where = "retarget.through"
    if not arms:
        problems.append(
            f"{where}: expected a leader with arms of its own, got one without; leave "
            "it out"
        )
    for name, own in arms.items():
        only = next(iter(robot.limbs)) if len(robot.limbs) == 1 else name
        at = name if name in robot.limbs else only
        if at not in robot.limbs:
            problems.append(
                f"{where}: expected '{robot.name}' to have one limb, or one named as "
                f"leader limb '{name}', got {', '.join(robot.limbs)}; name another"
            )
            continue
        found[name] = robot.limbs[at]
        difference = find_difference(own, found[name])
        if difference:
            problems.append(
                f"{where}: expected '{at}' of '{robot.name}' to be built as leader "
                f"limb '{name}', got {difference}; name the robot it is a copy of"
            )
    if problems:
        raise ConfigError(problems)
    return found


def _load_arm(arm: LeaderArm) -> Limb:
    settings = LimbSettings(
        base_link=arm.base_link, eef_link=arm.eef_link, joints=arm.joint_names
    )
    robot = RobotModel.from_urdf(arm.urdf_path, {"arm": settings})
    return robot.limbs["arm"]


class ArmPoses:
    """Writes hand poses into a sample."""

    def __init__(self, leader: LeaderInfo, arms: Mapping[str, Limb]) -> None:
        self._hands = [
            _Hand(leader.limbs.index(name), limb, leader.arms[name].R_base)
            for name, limb in arms.items()
        ]

    def place(self, sample: SampleView) -> None:
        """Fill the poses of arms with known joints."""
        for hand in self._hands:
            q = sample.q[hand.row, : hand.n_joints]
            if np.isfinite(q).all():
                rows = sample.pose[hand.row : hand.row + 1]
                place_eefs(*hand.chain, q, rows)


class _Hand:
    def __init__(self, row: int, limb: Limb, R_base: Vec) -> None:
        self.row, self.n_joints = row, len(limb.joint_names)
        tree = limb.tree
        R, p = tree.R.copy(), tree.p.copy()
        for i in np.flatnonzero(tree.parent < 0):
            R[i], p[i] = R_base @ R[i], R_base @ p[i]
        last = np.array([len(tree.parent) - 1])
        ends = limb.R_eef[None].copy(), limb.p_eef[None].copy()
        self.chain = tree._replace(R=R, p=p), last, *ends


def find_difference(leader: Limb, follower: Limb) -> str:
    """Return the first difference of two arms; empty if joints can drive joints.

    At zero, axes must point the same way and lie in the same places but for one scale.
    """
    n, m = len(leader.joint_names), len(follower.joint_names)
    if n != m:
        return f"{n} joints against {m}"
    axes_l, p_l = _find_axes(leader)
    axes_f, p_f = _find_axes(follower)
    turned = np.flatnonzero(np.sum(axes_l * axes_f, axis=1) < _AXES)
    if len(turned):
        i = int(turned[0])
        return (
            f"'{leader.joint_names[i]}' and '{follower.joint_names[i]}' turn about "
            "different axes"
        )
    # a joint's origin may slide along its axis: only what is across it counts
    across = np.eye(3) - axes_f[:, :, None] * axes_f[:, None, :]
    d_l = np.einsum("iab,ib->ia", across, p_l - p_l[0])
    d_f = np.einsum("iab,ib->ia", across, p_f - p_f[0])
    size = float(np.linalg.norm(d_f, axis=1).max())
    scale = float(np.sum(d_l * d_f) / max(np.sum(d_l * d_l), 1e-12))
    off = np.linalg.norm(scale * d_l - d_f, axis=1)
    worst = int(off.argmax())
    if scale <= 0.0 or off[worst] > _OFFSETS * size:
        return f"'{leader.joint_names[worst]}' lies elsewhere on the arm"
    return ""


def _find_axes(limb: Limb) -> tuple[Vec, Vec]:
    tree = limb.tree
    R, p = np.empty(tree.R.shape), np.empty(tree.p.shape)
    place_joints(tree, np.zeros(len(limb.joint_names)), R, p)
    axes, origins = np.empty((2, len(limb.joint_names), 3))
    axes[tree.column] = np.einsum("iab,ib->ia", R, tree.axis)
    origins[tree.column] = p
    return axes, origins
