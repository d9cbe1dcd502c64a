"""Leader's joints, all limbs in one vector of M."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paprle.contracts.errors import ConfigError, suggest
from paprle.contracts.settings.feedback import FeedbackSettings, RigSettings
from paprle.contracts.types import LeaderInfo, Vec
from paprle.haptics.arm import HapticArm
from paprle.haptics.mirror import JointMirror
from paprle.retargeting.pairing import Pairing
from paprle.robot import RobotModel

_GUESS_SHARE = 0.5  # chosen: gears that have run in have half of what is written
_STIFFEST = (
    6000.0  # [N·m/rad] chosen: stiffer than drives of arms here; nobody measured
)
_UNKNOWN_CAP = 0.15  # [N·m] chosen: 30 % of the stall torque of the weakest servo


@dataclass(frozen=True, slots=True)
class LeaderLimb:
    """Limb of the leader, by rows; names are ``limb/joint``."""

    name: str
    rows: slice
    arm_rows: slice
    joint_names: tuple[str, ...]
    arm: HapticArm | None

    @property
    def n_arm(self) -> int:
        """Number of arm joints."""
        return int(self.arm_rows.stop - self.arm_rows.start)

    def split(self, *, is_whole: bool) -> list[Vec]:
        """Return indices of single joints, or of the arm."""
        joints = np.arange(len(self.joint_names))
        first = [joints[: self.n_arm]] if is_whole else []
        return [*first, *joints[self.n_arm * is_whole :, None]]


def list_limbs(
    leader: LeaderInfo, arms: Mapping[str, HapticArm]
) -> tuple[LeaderLimb, ...]:
    """Return the limbs in the order of ``leader_state``."""
    limbs, at = [], 0
    for name in leader.limbs:
        arm = arms.get(name)
        given = leader.joint_names.get(name, ())
        joints = given if arm is None else arm.joint_names
        n_arm = len(joints) if arm is None else arm.n_arm
        limbs.append(
            LeaderLimb(
                name,
                slice(at, at + len(joints)),
                slice(at, at + n_arm),
                tuple(f"{name}/{joint}" for joint in joints),
                arm,
            )
        )
        at += len(joints)
    return tuple(limbs)


class ContactGroup(NamedTuple):
    """Rows of an arm or gripper, and robot joints."""

    rows: slice
    columns: Vec


def find_parts(
    limbs: Sequence[LeaderLimb], robot: RobotModel, pairing: Pairing
) -> list[ContactGroup]:
    """Return each limb's arm and gripper."""
    parts = []
    for limb in limbs:
        driven = [robot.limbs[name] for name, _ in pairing.list_driven(limb.name)]
        arm = [int(i) for one in driven for i in one.indices]
        grip = [
            robot.joint_names.index(one.gripper.joint) for one in driven if one.gripper
        ]
        grip_rows = slice(limb.arm_rows.stop, limb.rows.stop)
        for rows, columns in ((limb.arm_rows, arm), (grip_rows, grip)):
            parts.append(ContactGroup(rows, np.array(columns, dtype=np.int64)))
    return parts


@dataclass(frozen=True, slots=True)
class LeaderJoints:
    """Numbers by joint, each of shape (M,).

    Attributes:
        damping: Viscous friction, measured or guessed, [N·m·s/rad].
        viscous: Measured viscous friction or NaN.
        coulomb: Measured dry friction or NaN, [N·m].
        dry: Dry friction, measured or half of the URDF's, [N·m].
        drives: Measured or largest stiffness of the follower's drives, [N·m/rad].
        base: Rest position or NaN, [rad].
        q_min: Limit of both sides, [rad].
    """

    names: tuple[str, ...]
    damping: Vec
    viscous: Vec
    coulomb: Vec
    dry: Vec
    drives: Vec
    base: Vec
    q_min: Vec
    q_max: Vec
    caps: Vec
    gain_squared: Vec


def read_joints(
    limbs: Sequence[LeaderLimb],
    settings: FeedbackSettings,
    robot: RobotModel,
    mirror: JointMirror,
) -> LeaderJoints:
    """Return the joints' properties.

    Raises:
        ConfigError: With all unknown names and numbers not above zero.
    """
    names = tuple(joint for limb in limbs for joint in limb.joint_names)
    rig, problems = settings.rig, list[str]()
    read = _Reader(names, problems)
    viscous = read.by_name("rig.viscous", rig.viscous)
    coulomb = read.by_name("rig.coulomb", rig.coulomb)
    low_caps = read.by_name("torque_cap", settings.torque_cap)
    base = _read_base(limbs, settings, problems)
    problems += [
        f"feedback.rig.{key}.{name}: unknown joint; "
        f"{suggest(name, robot.joint_names, 'joints')}"
        for key in ("lags", "drive_stiffness")
        for name in getattr(rig, key)
        if name not in robot.joint_names
    ]
    if problems:
        raise ConfigError(problems)
    caps, q_min, q_max, guess = np.full((4, len(names)), np.nan)
    dry = np.zeros(len(names))
    for limb in limbs:
        if limb.arm is None:
            caps[limb.rows] = _UNKNOWN_CAP
            q_min[limb.rows], q_max[limb.rows] = -np.inf, np.inf
        else:
            caps[limb.rows] = settings.torque_share * limb.arm.effort
            q_min[limb.rows], q_max[limb.rows] = limb.arm.q_min, limb.arm.q_max
            guess[limb.rows] = limb.arm.damping
            dry[limb.rows] = _GUESS_SHARE * limb.arm.friction
    guess = np.where(np.isnan(guess), rig.damping, guess)
    low, high = mirror.bounds(robot.q_min, robot.q_max)
    return LeaderJoints(
        names=names,
        damping=np.where(np.isnan(viscous), guess, viscous),
        viscous=viscous,
        coulomb=coulomb,
        dry=np.where(np.isnan(coulomb), dry, coulomb),
        drives=mirror.gain_squared * mirror.spread_largest(_read_drives(rig, robot)),
        base=base,
        q_min=np.maximum(q_min, low),
        q_max=np.minimum(q_max, high),
        caps=np.fmin(caps, low_caps),
        gain_squared=mirror.gain_squared,
    )


def _read_drives(rig: RigSettings, robot: RobotModel) -> Vec:
    given = rig.drive_stiffness
    return np.array([given.get(name, _STIFFEST) for name in robot.joint_names])


class _Reader:
    def __init__(self, names: tuple[str, ...], problems: list[str]) -> None:
        self._names, self._problems = names, problems

    def by_name(self, key: str, values: Mapping[str, float]) -> Vec:
        row = np.full(len(self._names), np.nan)
        for name, value in values.items():
            where = f"feedback.{key}.{name}"
            if name not in self._names:
                tail = suggest(name, self._names, "joints")
                self._problems.append(f"{where}: unknown joint; {tail}")
            elif not value > 0.0:
                self._problems.append(f"{where}: expected more than 0, got {value:g}")
            else:
                row[self._names.index(name)] = value
        return row


def _read_base(
    limbs: Sequence[LeaderLimb], settings: FeedbackSettings, problems: list[str]
) -> Vec:
    known = {limb.name: limb for limb in limbs}
    row = np.full(sum(len(limb.joint_names) for limb in limbs), np.nan)
    for limb in limbs:
        if limb.arm is not None and limb.arm.reset_q is not None:
            row[limb.arm_rows] = limb.arm.reset_q
    for name, values in settings.base.items():
        if name not in known:
            tail = suggest(name, known, "limbs")
            problems.append(f"feedback.base.{name}: unknown limb; {tail}")
            continue
        limb = known[name]
        if len(values) not in {limb.n_arm, len(limb.joint_names)}:
            problems.append(
                f"feedback.base.{name}: expected {limb.n_arm} positions, or with its "
                f"gripper {len(limb.joint_names)}, got {len(values)}"
            )
            continue
        row[limb.rows.start : limb.rows.start + len(values)] = values
    return row
