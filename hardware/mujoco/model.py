"""Model of robot, servos and world."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass

import mujoco
import numpy as np
import numpy.typing as npt

from paprle.hardware.mujoco.mechanism import BLOCK, Mechanism, ModelOptions
from paprle.hardware.mujoco.robot import (
    add_servos,
    compute_inertias,
    find_harmless_pairs,
    make_robot_spec,
    set_home,
)
from paprle.hardware.mujoco.world import (
    WorldLayout,
    add_target,
    add_world,
    find_place,
    find_support,
)

Indices = npt.NDArray[np.intp]
_LOG = logging.getLogger(__name__)


def _log_warning(text: str) -> None:
    _LOG.warning("MuJoCo: %s", text)


@dataclass(frozen=True)
class SimModel:
    """A model with the robot's indices.

    Attributes:
        model: ``data.ctrl`` has the order of ``Mechanism.joint_names``.
        qpos_ids: Actuated joints in ``data.qpos``, shape (n,).
        dof_ids: Actuated joints in ``data.qvel``, shape (n,).
        objects: Starts of free objects in ``data.qpos``.
        support: Below the block, [m], or NaN.
    """

    model: mujoco.MjModel
    mjcf: str
    qpos_ids: Indices
    dof_ids: Indices
    objects: dict[str, int]
    support: float


def build_model(mechanism: Mechanism, options: ModelOptions) -> SimModel:
    """Return the model of a robot in its world.

    Raises:
        ValueError: Impossible model, or missing joints.
    """
    # without this MuJoCo appends to MUJOCO_LOG.TXT in whatever folder it runs
    mujoco.set_mju_user_warning(_log_warning)
    spec = make_robot_spec(mechanism, options)
    _set_options(spec, options)
    bare = spec.compile()
    data = mujoco.MjData(bare)
    set_home(bare, data, mechanism)
    for first, second in {*find_harmless_pairs(bare, data), *mechanism.ignored}:
        exclude = spec.add_exclude()
        exclude.bodyname1, exclude.bodyname2 = first, second
    add_servos(spec, mechanism, options, compute_inertias(bare, data, mechanism))
    eef_link = mechanism.eef_links[0] if mechanism.eef_links else ""
    place = find_place(bare, data, eef_link)
    place = _leave_out(place, options)
    add_world(spec, place)
    support = math.nan if place.block is None else find_support(place.block)
    if options.target is not None and place.block is not None:
        add_target(spec, options.target, support)
    model = spec.compile()
    joints = [model.joint(name) for name in mechanism.joint_names]
    is_there = model.nq > bare.nq
    return SimModel(
        model=model,
        mjcf=spec.to_xml(),
        qpos_ids=np.array([joint.qposadr[0] for joint in joints], dtype=np.intp),
        dof_ids=np.array([joint.dofadr[0] for joint in joints], dtype=np.intp),
        objects={BLOCK: int(model.joint(BLOCK).qposadr[0])} if is_there else {},
        support=support,
    )


def _leave_out(place: WorldLayout, options: ModelOptions) -> WorldLayout:
    is_on_table = place.table is not None
    table = place.table if options.has_table else None
    has_block = options.has_block and (options.has_table or not is_on_table)
    block = place.block if has_block else None
    if block is not None:
        block = block + np.array([*options.block_offset, 0.0])
    return WorldLayout(place.floor, table, block)


def _set_options(spec: mujoco.MjSpec, options: ModelOptions) -> None:
    option = spec.option
    option.timestep = options.timestep
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = 10.0  # chosen: less creep of what fingers hold
    # A reset in the middle of a motion would be a jump that nobody sees.
    option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
