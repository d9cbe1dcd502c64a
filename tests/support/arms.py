"""Arms to solve for, and what is asked of them."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml
from hypothesis import settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from paprle.robot import RobotModel
from paprle.robot.chain import Limb
from paprle.settings import RobotSettings

ROOT = Path(__file__).resolve().parents[2]
MOTION = ROOT / "../shared/data/motion/arbot_rectangle_H1.csv"
FULL = ["piper", "ur5e", "papras_7dof", "g1"]  # six joints and more in each limb
ALL = [*FULL, "open_manipulator_x"]
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
