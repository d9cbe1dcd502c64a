"""Return of arms with few joints from targets out of reach.

``python -m benchmarks.returns [PATHS]``: targets lead straight out of reach and back,
then stand. Per arm: paths that end on target, worst final errors, and the median
largest distance after a second. Exits with 1 if a path misses.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.settings.core import (
    IkSettings,
    LimbSettings,
    RobotSettings,
)
from paprle.contracts.settings.limits import LimitSettings
from paprle.kinematics.robot_solver import LimbSolver
from paprle.robot import RobotModel
from paprle.robot.chain import Limb

PUBLIC = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share"
SO_ARM = PUBLIC / "example-robot-data/robots/so_arm_description/urdf"
ROOT = Path(__file__).resolve().parents[1]
N_PATHS = 20
DT = 0.005  # [s]
OUT, BACK, STANDING = 2.0, 2.0, 5.0  # [s] the target moves away, returns, stands
BEYOND = 0.15  # [m] chosen: how far beyond all it can reach
INSIDE = 0.8  # chosen: share of the joints' range that paths begin in
SPEED, ACCELERATION = 1.0, 20.0  # [rad/s], [rad/s²] chosen: of a hobby servo, loaded
ON_POS, ON_ROT = 1e-3, 0.01  # [m], [rad] chosen: a target counts as reached


class Arm(NamedTuple):
    """An arm, and its relevant joints."""

    urdf: Path
    base: str
    eef: str
    joints: tuple[str, ...]


def _wrist_fixed(urdf: str, base: str, eef: str, *joints: str) -> Arm:
    return Arm(ROOT / "urdf" / urdf / "robot.urdf", base, eef, joints)


SO = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")
ARMS = {
    "so100": Arm(SO_ARM / "so100.urdf", "base", "gripper", SO),
    "so101": Arm(SO_ARM / "so101.urdf", "base_link", "gripper_frame_link", SO),
    "piper, 5 joints": _wrist_fixed(
        "piper", "base_link", "gripper_base", *(f"joint{k}" for k in range(1, 6))
    ),
    "ur5e, 5 joints": _wrist_fixed(
        "ur5e",
        "base_link",
        "tool0",
        *(f"{name}_joint" for name in ("shoulder_pan", "shoulder_lift", "elbow")),
        "wrist_1_joint",
        "wrist_2_joint",
    ),
    "open_manipulator_x": _wrist_fixed(
        "open_manipulator_x",
        "link1",
        "end_effector_link",
        *(f"joint{k}" for k in range(1, 5)),
    ),
}


def load(
    arm: Arm, speed: float = SPEED, acceleration: float = ACCELERATION
) -> RobotModel:
    """Return an arm's robot; limits in [rad/s] and [rad/s²]."""
    limb = LimbSettings(base_link=arm.base, eef_link=arm.eef, joints=arm.joints)
    limits = LimitSettings(
        dq_max=dict.fromkeys(arm.joints, speed), ddq_max=acceleration
    )
    settings = RobotSettings(urdf=str(arm.urdf), limbs={"arm": limb}, limits=limits)
    return RobotModel.from_settings(settings, arm.urdf.parent.name, ROOT)


def make_path(limb: Limb, rng: np.random.Generator) -> tuple[np.ndarray, list[pin.SE3]]:
    """Return a start and targets."""
    low, high = np.maximum(limb.q_min, -np.pi), np.minimum(limb.q_max, np.pi)
    middle, half = 0.5 * (low + high), 0.5 * INSIDE * (high - low)
    q = rng.uniform(middle - half, middle + half)
    T = limb.fk(q)
    reach = np.linalg.norm(
        [limb.fk(rng.uniform(low, high)).translation for _ in range(200)], axis=1
    ).max()
    way = T.translation + 0.1 * rng.standard_normal(3)
    way *= (reach + BEYOND) / np.linalg.norm(way)
    shares = [0.5 - 0.5 * np.cos(np.pi * t / OUT) for t in np.arange(0.0, OUT, DT)]
    shares += [0.5 + 0.5 * np.cos(np.pi * t / BACK) for t in np.arange(0.0, BACK, DT)]
    shares += [0.0] * round(STANDING / DT)
    return q, [
        pin.SE3(T.rotation, T.translation + s * (way - T.translation)) for s in shares
    ]


def follow(
    robot: RobotModel, limb: Limb, q_limb: np.ndarray, path: list[pin.SE3]
) -> np.ndarray:
    """Return errors, [m] and [rad], (n, 2)."""
    solver = LimbSolver(robot, IkSettings(), 0.0)
    m = len(robot.limbs)
    asked = np.array([one is limb for one in robot.limbs.values()])
    q, T, left = robot.home.copy(), np.tile(np.eye(4), (m, 1, 1)), []
    q[limb.indices] = q_limb
    wanted = np.full(len(q), np.nan)
    place = int(asked.argmax())
    for target in path:
        T[place] = target.homogeneous
        q, errors, _ = solver.solve(T, asked, wanted, q, q, DT)
        left.append(errors[:, place])
    return np.array(left)


def main(words: list[str]) -> int:
    """Print arms; return 1 if one did not return."""
    n = int(words[0]) if words else N_PATHS
    print(f"{'arm':<20}{'back':>8}{'worst':>18}{'position':>20}")
    n_lost = 0
    for name, arm in ARMS.items():
        robot, rng = load(arm), np.random.default_rng(0)
        limb = next(iter(robot.limbs.values()))
        ends, offs = [], []
        for _ in range(n):
            q, path = make_path(limb, rng)
            left = follow(robot, limb, q, path)
            ends.append(left[-1])
            offs.append(left[-round((STANDING - 1.0) / DT) :, 0].max())
        end = np.array(ends)
        back = (end[:, 0] < ON_POS) & (end[:, 1] < ON_ROT)
        n_lost += int((~back).sum())
        pos, rot = 1e3 * end[:, 0].max(), np.degrees(end[:, 1].max())
        off = 1e3 * np.median(offs)
        print(f"{name:<20}{back.sum():3d}/{n}{pos:10.2f} mm{rot:6.1f}°{off:15.4f} mm")
    return int(n_lost > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
