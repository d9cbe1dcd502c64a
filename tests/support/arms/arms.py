"""Arms to solve for, and what is asked of them."""

from __future__ import annotations

import json
import math
import sysconfig
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml
from hypothesis import settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from shared_data import SHARED, skip_without_data

from paprle.contracts.settings.core import LimbSettings, RobotSettings
from paprle.robot import RobotModel
from paprle.robot.chain import Limb

ROOT = Path(__file__).resolve().parents[3]
MOTION = SHARED / "motion/arbot_rectangle_H1.csv"
FULL = ["piper", "ur5e", "papras_7dof", "g1"]  # six joints and more in each limb
STRANGERS = (
    Path(sysconfig.get_paths()["purelib"])
    / "cmeel.prefix/share/example-robot-data/robots"
)
STRANGER_URDFS = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "xarm7": "xarm_description/urdf/xarm7*.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
}
ALL = [*FULL, "open_manipulator_x", "so101"]
PERIOD = 0.005  # [s]

seeds = st.integers(0, 2**32 - 1)
some = settings(max_examples=40, deadline=None)


@cache
def load_robot(name: str) -> RobotModel:
    text = json.dumps(
        yaml.safe_load((ROOT / f"configs/follower/{name}.yaml").read_text())
    )
    return RobotModel.from_settings(
        TypeAdapter(RobotSettings).validate_json(text), name, ROOT
    )


def load_limb(name: str, index: int = 0) -> Limb:
    limbs = list(load_robot(name).limbs.values())
    return limbs[index % len(limbs)]


def draw_q(limb: Limb, rng: np.random.Generator, margin: float = 0.1):
    low, high = np.maximum(limb.q_min, -math.pi), np.minimum(limb.q_max, math.pi)
    return low + (high - low) * rng.uniform(margin, 1 - margin, len(low))


def draw_nearby(limb: Limb, q, rng: np.random.Generator, size: float):
    way = rng.uniform(-size, size, len(q))
    return np.clip(q + way, limb.q_min, limb.q_max)


def weighted_error(solver, found) -> float:
    if len(solver.limb.joint_names) < 6 or solver.settings.rotation_weight == 0.0:
        return found.err_pos
    return math.hypot(found.err_pos, solver.settings.rotation_weight * found.err_rot)


def shift(T: pin.SE3, dp) -> pin.SE3:
    return pin.SE3(T.rotation, T.translation + np.asarray(dp))


@cache
def load_stranger(name: str) -> Limb:
    """An arm of example-robot-data, its longest limb."""
    path = next(iter(sorted(STRANGERS.glob(STRANGER_URDFS[name]))), None)
    if path is None:
        skip_without_data(f"needs {name}: pip install example-robot-data")
    robot = RobotModel.from_urdf(path)
    return max(robot.limbs.values(), key=lambda limb: len(limb.joint_names))


@cache
def make_arm(n: int, seed: int, mimic: bool = False) -> Limb:
    """An arm of n joints along x, with any axes; if it mimics, one more follows."""
    rng = np.random.default_rng(seed)
    joints = ""
    for k in range(n + mimic):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        follow = f"<mimic joint='j{n - 1}' multiplier='-0.7' offset='0.1'/>"
        joints += f"""
        <link name='l{k + 1}'/><joint name='j{k}' type='revolute'>
          <parent link='l{k}'/><child link='l{k + 1}'/>
          <origin xyz='{0.15 if k else 0.0} 0 0'/>
          <axis xyz='{axis[0]} {axis[1]} {axis[2]}'/>
          <limit lower='-2' upper='2' velocity='2' effort='1'/>
          {follow if k == n else ""}</joint>"""
    text = f"""<robot name='arm'><link name='l0'/>{joints}
      <link name='tip'/><joint name='tip' type='fixed'><parent link='l{n + mimic}'/>
      <child link='tip'/><origin xyz='0.1 0.02 0.03' rpy='0.1 0.2 0.3'/></joint>
      </robot>"""
    limb = LimbSettings(base_link="l0", eef_link="tip")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.urdf"
        path.write_text(text)
        return RobotModel.from_urdf(path, {"arm": limb}).limbs["arm"]
