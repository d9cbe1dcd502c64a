"""From the robot and the config to a simulated model."""

from __future__ import annotations

import numpy as np

from followers.mujoco.config import MujocoConfig
from hardware.mujoco.mechanism import Mechanism, MimicJoint, ModelOptions
from paprle.contracts.types import RobotInfo


def make_mechanism(robot: RobotInfo) -> Mechanism:
    """Return the robot as the model builder needs it."""
    return Mechanism(
        urdf_path=robot.urdf_path,
        joint_names=robot.joint_names,
        home=robot.home,
        mimics=tuple(
            MimicJoint(
                joint=mimic.joint,
                source=mimic.source,
                multiplier=mimic.multiplier,
                offset=mimic.offset,
            )
            for mimic in robot.mimics
        ),
        grippers=tuple(limb.gripper.joint for limb in robot.limbs if limb.gripper),
        eef_links=tuple(limb.eef_link for limb in robot.limbs),
    )


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
