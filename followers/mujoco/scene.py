"""Simulation options and surroundings from the config."""

from __future__ import annotations

from collections.abc import Collection

import mujoco
import numpy as np

from paprle.contracts.scene_body import SceneBody
from paprle.contracts.types import RobotInfo
from paprle.followers.mujoco.config import MujocoConfig
from paprle.hardware.mujoco.mechanism import BLOCK, TARGET, ModelOptions


def make_options(config: MujocoConfig, robot: RobotInfo) -> ModelOptions:
    """Return reproducible simulation options."""
    rng = np.random.default_rng(config.randomise.seed)
    spread = config.randomise.friction * rng.uniform(-1, 1, len(robot.joint_names))
    extra = config.randomise.load * rng.uniform(0, 1, len(robot.limbs))
    block = config.randomise.block * rng.uniform(-1, 1, 2)
    return ModelOptions(
        timestep=config.step,
        natural_frequency=config.natural_frequency,
        armature=config.armature,
        has_gravcomp=config.gravcomp,
        has_table=config.table,
        has_block=config.block,
        block_offset=(float(block[0]), float(block[1])),
        target=config.scenario.target if config.scenario else None,
        friction_scales=tuple(config.friction_scale * (1.0 + spread)),
        payloads=tuple(config.payload + extra),
    )


def list_bodies(
    model: mujoco.MjModel, data: mujoco.MjData, objects: Collection[str]
) -> tuple[SceneBody, ...]:
    """Return table, block and target at their present poses."""
    geoms = {model.geom(i).name: i for i in range(model.ngeom)}
    made = []
    for name in ("table", BLOCK, TARGET):
        if name not in geoms:
            continue
        i, quat_wxyz = geoms[name], np.zeros(4)
        mujoco.mju_mat2Quat(quat_wxyz, data.geom_xmat[i])
        w, x, y, z = quat_wxyz.tolist()
        size = tuple((2.0 * model.geom_size[i]).tolist())
        pose = (*data.geom_xpos[i].tolist(), x, y, z, w)
        made.append(SceneBody(name, "box", size, pose, name in objects))
    return tuple(made)
