"""From the config to how a robot is simulated."""

from __future__ import annotations

import numpy as np

from followers.mujoco.config import MujocoConfig
from hardware.mujoco.mechanism import ModelOptions
from paprle.contracts.types import RobotInfo


def make_options(config: MujocoConfig, robot: RobotInfo) -> ModelOptions:
    """Return how to simulate it; the same config is the same to the last bit."""
    rng = np.random.default_rng(config.randomise.seed)
    spread = config.randomise.friction * rng.uniform(-1, 1, len(robot.joint_names))
    extra = config.randomise.load * rng.uniform(0, 1, len(robot.limbs))
    return ModelOptions(
        timestep=config.step,
        has_gravcomp=config.gravcomp,
        has_table=config.table,
        has_block=config.block,
        friction_scales=tuple(config.friction_scale * (1.0 + spread)),
        payloads=tuple(config.payload + extra),
    )
